"""One file adds a failure; a row, a mechanism or a fleet agent; one folder, a pack.

Each test really adds one to a copy of the sources and plays it there.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extending.checkout import Checkout, fingerprint, fingerprint_here

FAILURE = '''
"""The sessions of auth are full."""

from chaosops.core.actions import Scale
from chaosops.core.vocabulary import Health
from chaosops.packs.classic.failure import Failure
from chaosops.packs.classic.symptoms import Strain, Symptoms


class SessionsFull(Failure):
    broken = {"auth": Health.CRITICAL}
    fix = Scale("auth", 5)
    symptoms = Symptoms(
        logs={"auth ERROR": ("no room for another login", "login {n} turned away")},
        alerts={"auth page": ("logins turned away",)},
        strain={"auth": Strain(91, 900, 41, 700, 400)},
    )
'''

MECHANISM = """
    Mechanism(  # A tracing level that floods a service.
        id="aaa_trace_flood",
        setting="trace_level",
        harmful=1,
        values=(10, 60),
        changed_by=("config_manager", "deploy_bot"),
        strikes=("api", "edge"),
        effect=Modifiers(capacity=0.3, errors=0.2),
        remedy=Rollback,
        logs=("{n} spans dropped", "exporter falls behind"),
    ),
"""

AGENT = """
    # Sets the number of replicas by the time of day.
    FleetAgent(
        "aaa_night_watch", "schedule at util {util}%", 1, settings=("replicas", "cert_days")
    ),
"""

PLAYED = """
from chaosops import Env, Team, load_policy, make_scenario, play
from chaosops.core.vocabulary import Role, Tier
from chaosops.roles.prompt import render

oracle = Team.of(load_policy("oracle"))
"""


@pytest.fixture
def shipped() -> str:
    return fingerprint_here()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_failure_is_one_file(checkout: Checkout, shipped: str) -> None:
    checkout.write("packs/classic/failures/aaa_sessions_full.py", FAILURE)
    assert len(checkout.touched()) == 1
    assert fingerprint(checkout) == shipped
    assert "aaa_sessions_full" in checkout.chaosops("list")
    assert "5 of 5" in _line(checkout.chaosops("check"), "aaa_sessions_full")
    assert checkout.python(PLAYED + """
episode = play(make_scenario("aaa_sessions_full"), oracle)
causes = [Env(make_scenario(f)).world.public.rules.causes for f in ("aaa_sessions_full", "cascade")]
served = {make_scenario(seed=seed, fresh=True).failure for seed in range(300)}
print(episode.resolved, causes[0][-1], len(causes[1]), len(served), "aaa_sessions_full" in served)
""") == "True aaa_sessions_full 9 9 False"  # fmt: skip


def test_a_mechanism_is_one_row(checkout: Checkout, shipped: str) -> None:
    empty = "_ADDED: tuple[Mechanism, ...] = ("
    checkout.edit("packs/arena/mechanisms.py", empty, empty + MECHANISM)
    assert len(checkout.touched()) == 1
    assert fingerprint(checkout) == shipped
    _plays_extra(checkout, "aaa_trace_flood")
    assert checkout.python(PLAYED + """
env = Env(make_scenario(split="extra"))
test = Env(make_scenario(split="test"))
pages = [[page.name for page in one.world.public.rules.runbook] for one in (env, test)]
print(env.cause, *("aaa_trace_flood" in names for names in pages))
""") == "aaa_trace_flood True False"  # fmt: skip


def test_a_fleet_agent_is_one_row(checkout: Checkout, shipped: str) -> None:
    empty = "_ADDED: tuple[FleetAgent, ...] = ("
    checkout.edit("packs/arena/agents.py", empty, empty + AGENT)
    assert len(checkout.touched()) == 1
    assert fingerprint(checkout) == shipped
    _plays_extra(checkout, "aaa_night_watch")
    assert "aaa_night_watch" in checkout.python(PLAYED + """
print({Env(make_scenario(split="extra", seed=seed)).rogue for seed in range(40)})
""")  # fmt: skip


def _plays_extra(checkout: Checkout, name: str) -> None:
    assert name in checkout.chaosops("list")
    checked = checkout.chaosops("check", "--pack", "arena", "--seeds", "1", "--contract-seeds", "1")
    assert "5 of 5" in _line(checked, "extra hard")
    solved = checkout.python(PLAYED + """
scenarios = [make_scenario(split="extra", tier=t, seed=s) for t in Tier for s in range(5)]
teams = [oracle, *(Team.of(load_policy(name)) for name in ("heuristic", "keyword", "random"))]
played = [[play(scenario, team) for scenario in scenarios] for team in teams]
print(all(episode.resolved for episode in played[0]))
""")  # fmt: skip
    assert solved == "True"


def _line(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.strip().startswith(start))


PACK = '''
"""One oven that goes cold."""

from typing import NamedTuple

from chaosops.core.actions import Action, IdentifyRootCause, Noop, Restart
from chaosops.core.rules import Rulebook
from chaosops.core.telemetry import Alert, LogLine, ServiceHealth, ServiceReading, TraceEntry
from chaosops.core.vocabulary import Health, Role, Tier
from chaosops.roles.layouts import Layout, register
from chaosops.world.incident import Effect, Pack

VERBS = {
    Role.SRE: ("noop", "communicate", "identify_root_cause"),
    Role.OVERSIGHT: ("noop", "communicate", "flag_rogue"),
    Role.DEV: ("noop", "communicate", "restart"),
    Role.MANAGER: ("noop", "communicate"),
}
RULES = Rulebook(
    services=("mixer", "oven", "shop", "van"),
    agents=("timer", "thermostat"),
    causes=("cold_oven", "stale_yeast", "slow_mixer", "flat_tyre"),
    verbs=VERBS,
    replica_choices=(1,),
    layout="bakery",
)
register(
    "bakery",
    Layout(lambda view, labels: ["The oven is cold."], lambda rules, role, labels: ["A bakery."]),
)


class OvenSensors(NamedTuple):
    seed: int
    warm: bool
    step: int

    def health(self):
        sick = Health.HEALTHY if self.warm else Health.CRITICAL
        well = Health.HEALTHY
        return tuple(ServiceHealth(s, sick if s == "oven" else well) for s in RULES.services)

    def metrics(self):
        cpu = 20 + self.seed % 47
        return tuple(ServiceReading(s, h, 1, cpu, 10, 5, 30, 0.0) for s, h in self.health())

    def logs(self):
        return (LogLine(0, "oven", "WARN", "dough does not rise"),)

    def alerts(self):
        return () if self.warm else (Alert(0, "oven", "page", "below 60 degrees"),)

    def trace(self):
        return tuple(
            TraceEntry(-2, agent, "set", "oven", "200", "210", "schedule") for agent in RULES.agents
        )


class ColdOven(NamedTuple):
    seed: int
    cause: str = "cold_oven"
    rogue: str | None = None

    def act(self, state, action: Action, step: int) -> Effect:
        if not isinstance(action, Restart):
            return Effect(state)
        helps = action.target == "oven"
        return Effect(state or helps, helps=helps)

    def advance(self, state, action, flagged, step):
        return state, state

    def sense(self, state, step):
        return OvenSensors(self.seed, state, step)

    def oracle_action(self, state, role, flagged, cause_named):
        if role is Role.SRE and not cause_named:
            return IdentifyRootCause(self.cause)
        return Restart("oven") if role is Role.DEV else Noop()

    def trouble_steps(self, state, step):
        return 0 if state else step

    def guilty_entries(self):
        return frozenset()

    def decisive_entries(self):
        return frozenset()

    def reward_key(self, state, step, flagged):
        return (step, state)


class BakeryPack(Pack):
    name = "bakery"
    version = "1"
    limits = {Tier.EASY: 8, Tier.MEDIUM: 10, Tier.HARD: 12}
    default_failure = "cold_oven"
    drawn = ("cold_oven",)

    def failures(self, tier=None):
        return ("cold_oven",)

    def open(self, scenario):
        return RULES, ColdOven(scenario.seed), False


PACK = BakeryPack()
'''


def test_a_pack_is_one_folder(checkout: Checkout, shipped: str) -> None:
    checkout.write("packs/bakery/__init__.py", PACK)
    assert len(checkout.touched()) == 1
    assert fingerprint(checkout) == shipped
    assert "pack bakery 1" in checkout.chaosops("list")
    assert "cold_oven" in checkout.chaosops("run", "--help")
    assert "5 of 5" in _line(checkout.chaosops("check", "--pack", "bakery"), "cold_oven")
    assert "The oven is cold." in checkout.chaosops("run", "--pack", "bakery", "--prompts")
    folder = str(checkout.root / "evaluation")
    table = checkout.chaosops("eval", "--pack", "bakery", "--seeds", "1", "--out", folder)
    assert "| random" in table
    assert "| heuristic" not in table  # no script is written for a bakery
    assert checkout.python(PLAYED + """
from chaosops.wire.views import read_rules, rules_to_wire
env = Env(make_scenario(pack="bakery"))
sent = read_rules(rules_to_wire(env.view.rules))
print(play(make_scenario(pack="bakery"), oracle).resolved, sent == env.view.rules)
""") == "True True"  # fmt: skip
