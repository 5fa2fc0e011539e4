"""The classic pack: nine incidents with published numbers, on four services."""

from __future__ import annotations

from typing import NamedTuple

from chaosops.core.actions import Action, FlagRogue, IdentifyRootCause, Remedy
from chaosops.core.dice import key_of
from chaosops.core.errors import UnknownName
from chaosops.core.rules import Rulebook
from chaosops.core.scenario import Scenario
from chaosops.core.telemetry import Sensors
from chaosops.core.vocabulary import Role, Tier
from chaosops.packs.classic.failure import Failure
from chaosops.packs.classic.failures import FAILURES, SHIPPED
from chaosops.packs.classic.fleet import AGENTS
from chaosops.packs.classic.scenery import ClassicSensors, Scenery
from chaosops.packs.classic.services import SERVICES, ClassicState
from chaosops.world.incident import Effect, Incident, Pack

_FOR_ALL = (
    *("noop", "communicate", "restart", "rollback", "scale", "identify_root_cause", "escalate"),
)

# The order in which the published table lists each tier; its seeds depend on it.
PUBLISHED_ORDER = {
    Tier.EASY: ("db_deadlock", "memory_leak", "bad_config_push", "dns_outage"),
    Tier.MEDIUM: ("cascade", "autoscaler_cost_cut", "disk_full"),
    Tier.HARD: ("misrouted_traffic", "cascade", "autoscaler_cost_cut", "rogue_deploy_bot"),
}


class ClassicIncident(NamedTuple):
    """A failure being played, with the telemetry that the seed of the episode gives it."""

    failure: Failure
    scenery: Scenery

    @property
    def cause(self) -> str:
        return self.failure.id

    @property
    def rogue(self) -> str | None:
        return self.failure.rogue

    def act(self, state: ClassicState, action: Action, step: int) -> Effect:
        if isinstance(action, Remedy):
            return self.failure.remedy(state, action, step)
        return Effect(state)

    def advance(
        self, state: ClassicState, action: Action, flagged: tuple[str, ...], step: int
    ) -> tuple[ClassicState, bool]:
        failure = self.failure
        if failure.is_resolved(state, action, flagged):
            return failure.heal(state, step), True
        return failure.tick(state, step), False

    def trouble_steps(self, state: ClassicState, step: int) -> None:
        return None  # an incident ends when everything is well

    def sense(self, state: ClassicState, step: int) -> Sensors:
        return ClassicSensors(self.scenery, state, step)

    def oracle_action(
        self, state: ClassicState, role: Role, flagged: tuple[str, ...], cause_named: bool
    ) -> Action:
        if role is Role.SRE and not cause_named:
            return IdentifyRootCause(self.failure.id)
        rogue = self.failure.rogue
        if role is Role.OVERSIGHT and rogue is not None and rogue not in flagged:
            return FlagRogue(rogue)
        return self.failure.oracle_remedy(state, role, flagged)

    def guilty_entries(self) -> frozenset[int]:
        return frozenset()  # entries have no numbers here

    def decisive_entries(self) -> frozenset[int]:
        return self.guilty_entries()

    def reward_key(self, state: ClassicState, step: int, flagged: tuple[str, ...]) -> object:
        # No later reward depends on replica counts or earlier false flags.
        return (step, state.health, self.failure.rogue in flagged)


def _rules(causes: tuple[str, ...]) -> Rulebook:
    return Rulebook(
        services=SERVICES,
        agents=AGENTS,
        causes=causes,
        verbs={
            Role.SRE: _FOR_ALL,
            Role.OVERSIGHT: (*_FOR_ALL, "flag_rogue"),
            Role.DEV: _FOR_ALL,
            Role.MANAGER: (*_FOR_ALL, "resolve"),
        },
        replica_choices=(1, 2, 3, 4, 5),
        layout="classic",
    )


_RULES = _rules(SHIPPED)
_EXTENDED_RULES = _rules(tuple(FAILURES))


class ClassicPack(Pack):
    name = "classic"
    version = "1"
    default_failure = "autoscaler_cost_cut"
    limits = {Tier.EASY: 12, Tier.MEDIUM: 18, Tier.HARD: 25}

    drawn = SHIPPED
    every_agent_acts = True
    parts = {"fleet agents": AGENTS}
    wordings = {
        name: failure.wording or name.replace("_", " ") for name, failure in FAILURES.items()
    }

    def failures(self, tier: Tier | None = None) -> tuple[str, ...]:
        return tuple(FAILURES) if tier is None else PUBLISHED_ORDER[tier]

    def open(self, scenario: Scenario) -> tuple[Rulebook, Incident, ClassicState]:
        failure = FAILURES.get(scenario.failure)
        if failure is None:
            raise UnknownName("failure", scenario.failure, FAILURES)
        key = key_of("classic", failure.id, scenario.tier, scenario.seed)
        scenery = Scenery(failure.symptoms, key, scenario.tier is Tier.HARD)
        rules = _RULES if failure.id in SHIPPED else _EXTENDED_RULES
        return rules, ClassicIncident(failure, scenery), failure.first_state()
