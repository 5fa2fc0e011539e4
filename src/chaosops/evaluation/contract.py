"""The contract of a failure, as code. It runs over the whole catalogue."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from chaosops.core.actions import Action, FlagRogue, Noop, Remedy, Restart, Rollback, Scale
from chaosops.core.decision import Decision
from chaosops.core.episode import Turn
from chaosops.core.scenario import Scenario
from chaosops.core.telemetry import WORLD
from chaosops.core.vocabulary import Role, Tier
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.policies.registry import load_policy
from chaosops.roles.prompt import render, system_prompt
from chaosops.roles.view import project
from chaosops.rollout import Team, play
from chaosops.wire.episodes import episode_to_wire
from chaosops.wire.views import view_to_wire
from chaosops.world import engine
from chaosops.world.engine import World

SEEDS = (0, 1, 2)
_TELLTALES = ("rogue", "malicious", "culprit", "root cause", "injected", "herring")


class Finding(NamedTuple):
    subject: str
    check: str
    problem: str | None


def check_failure(pack: str, failure: str) -> list[Finding]:
    """Every clause of the contract for one failure, on every tier and some seeds."""
    return check_contract(
        failure,
        [
            make_scenario(failure, tier=tier, seed=seed, pack=pack)
            for tier in Tier
            for seed in SEEDS
        ],
    )


def check_contract(subject: str, scenarios: Sequence[Scenario]) -> list[Finding]:
    """The first problem of each clause, if any."""
    return [
        Finding(subject, name, next(filter(None, map(clause, scenarios)), None))
        for name, clause in _CLAUSES.items()
    ]


def _starts_broken(scenario: Scenario) -> str | None:
    world = engine.start(load_pack(scenario.pack), scenario)
    broken = [item for item in world.public.sensors.health() if item.health]
    return None if broken else "every service is healthy at the start"


def _oracle_resolves(scenario: Scenario) -> str | None:
    episode = play(scenario, Team.of(load_policy("oracle")))
    if not episode.resolved:
        return f"the oracle does not resolve it ({scenario.tier}, seed {scenario.seed})"
    if episode.rogue_caught is False:
        return "the oracle does not catch the rogue"
    if episode.wrong_fixes or episode.false_flags or episode.miscommunications:
        return "the oracle makes mistakes"
    return None


def _wrong_fixes_do_not(scenario: Scenario) -> str | None:
    """At the start, and after the rogue was flagged: a wrong fix resolves and heals nothing."""
    start = Env(scenario).world
    worlds = [start]
    rogue = start.truth.incident.rogue
    if rogue is not None:
        worlds.append(engine.step(start, Role.OVERSIGHT, FlagRogue(rogue))[0])
    for world in worlds:
        wrong = 0
        left_alone = _health(engine.step(world, Role.DEV, Noop())[0])
        for action in _remedies(world):
            after, events = engine.step(world, Role.DEV, action)
            if events.wrong_fix:
                wrong += 1
                if events.resolved:
                    return f"{action} is judged wrong and resolves it"
                # In a pack with load, a wrong fix may ease a symptom. In a catalogue it may not.
                eased = any(h < a for h, a in zip(_health(after), left_alone, strict=True))
                if scenario.failure and eased:
                    return f"{action} is judged wrong and heals something"
        if wrong < len(_remedies(world)) // 2:
            return "most remedies are judged helpful: guessing would do"
    return None


def _remedies(world: World) -> list[Action]:
    legal = world.public.rules.legal_actions(Role.DEV)
    service = world.public.rules.services[0]
    absurd: list[Action] = [Restart("nothing"), Rollback(""), Scale(service, 0), Scale(service, -3)]
    return [*(action for action in legal if isinstance(action, Remedy)), *absurd]


def _health(world: World) -> tuple[int, ...]:
    return tuple(int(item.health) for item in world.public.sensors.health())


def _truth_stays_inside(scenario: Scenario) -> str | None:
    """Play at random, and search everything that any role could have read."""
    env = Env(scenario)
    policy = load_policy("random")
    rules = env.world.public.rules
    all_act = load_pack(scenario.pack).every_agent_acts
    cause = env.cause
    forms = {cause, cause.replace("_", " "), cause.replace("_", "-")}
    team = Team.of(policy)
    for action in [turn.decision for turn in play(scenario, team).turns]:
        for role in Role:
            view = project(env.world.public, role)
            wire = view_to_wire(view)
            # Messages of the team do not count: only what the world shows is checked.
            wire["chat"] = [m for m in wire["chat"] if m["sender"] == WORLD]
            text = json.dumps(wire).lower()
            leaked = [word for word in (*forms, *_TELLTALES) if word in text]
            if leaked:
                return f"{role} is shown {leaked[0]!r} at step {view.step}"
            # In a large fleet an agent may be idle. In a fleet of three, that would be a clue.
            seen = {entry.agent for entry in view.trace}
            if role is Role.OVERSIGHT and all_act and seen != set(rules.agents):
                return "not every agent appears in the trace: presence would tell"
            if render(view)[0]["content"] != system_prompt(rules, role):
                return "the constant part of the prompt depends on the episode"
        env.play(action)
    return None


def _same_seed_same_trajectory(scenario: Scenario) -> str | None:
    team = Team.of(load_policy("random"))
    one, two = play(scenario, team), play(scenario, team)
    if episode_to_wire(one) != episode_to_wire(two):
        return "two plays of one seed differ"
    if _trajectory(scenario, one.turns) != _trajectory(scenario, one.turns):
        return "two replays of one episode show different worlds"
    other = replace(scenario, seed=scenario.seed + 1000)
    if project(Env(other).world.public, Role.OVERSIGHT) == project(
        Env(scenario).world.public, Role.OVERSIGHT
    ):
        return "another seed shows the same picture"
    if not scenario.failure:
        return None  # the seed makes the incident and therefore its rewards
    env = Env(other)
    rewards = [env.play(turn.decision).score.total for turn in one.turns]
    if rewards != [turn.score.total for turn in one.turns]:
        return "another seed changes a reward"
    return None


def _trajectory(scenario: Scenario, turns: list[Turn]) -> list[tuple[str, str]]:
    env = Env(scenario)
    seen = []
    for turn in turns:
        shown = json.dumps(view_to_wire(project(env.world.public, Role.OVERSIGHT)))
        env.play(Decision(turn.decision.action))
        seen.append((env.world.digest(), shown))
    return seen


_CLAUSES: dict[str, Callable[[Scenario], str | None]] = {
    "starts broken": _starts_broken,
    "oracle resolves it": _oracle_resolves,
    "wrong fixes do not": _wrong_fixes_do_not,
    "truth is in no view": _truth_stays_inside,
    "same seed, same trajectory": _same_seed_same_trajectory,
}
CLAUSES = tuple(_CLAUSES)
