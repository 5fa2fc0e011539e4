"""The only episode loop: one episode or many side by side, for everyone who plays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from chaosops.core.decision import Decision
from chaosops.core.dice import STRIDE, key_of
from chaosops.core.episode import Episode, Turn
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.protocol import Policy, Seat
from chaosops.policies.registry import load_policy
from chaosops.rubrics import CompositeRubric, standard


class Team:
    """A policy for each role."""

    def __init__(self, seats: Mapping[Role, Policy], name: str | None = None) -> None:
        self.seats = {role: seats[role] for role in Role}
        self.name = name or ",".join(f"{role}={policy.name}" for role, policy in seats.items())

    @classmethod
    def of(cls, policy: Policy) -> Team:
        """One policy in all four seats."""
        return cls(dict.fromkeys(Role, policy), policy.name)

    def status(self) -> dict[str, Any]:
        """What stands beside the team's numbers: one status, or one for each role."""
        statuses = {role.value: dict(policy.status()) for role, policy in self.seats.items()}
        alone = len({id(policy) for policy in self.seats.values()}) == 1
        return statuses[Role.SRE.value] if alone else statuses


def load_team(text: str) -> Team:
    """A policy for all, or a policy for each role; ``others`` stands for the roles not named.

    >>> load_team("oversight=random,others=oracle").seats[Role.DEV].name
    'oracle'
    """
    if _is_one_policy(text):
        return Team.of(load_policy(text))
    named = _named(text)
    # One instance per policy: a model that takes three seats is loaded once and asked once.
    loaded = {policy: load_policy(policy) for policy in named.values()}
    return Team({role: loaded[name] for role, name in seat_names(text).items()}, text)


def seat_names(text: str) -> dict[Role, str]:
    """The name of the policy in each role; nothing is loaded, and none of them need exist.

    >>> seat_names("oversight=random,others=oracle")[Role.DEV]
    'oracle'
    """
    if _is_one_policy(text):
        return dict.fromkeys(Role, text)
    named = _named(text)
    return {role: named[role] if role in named else named["others"] for role in Role}


def _named(text: str) -> dict[str, str]:
    """What a team's text says, by role and for the others."""
    named: dict[str, str] = {}
    for part in text.split(","):
        role, _, policy = (word.strip() for word in part.partition("="))
        if role not in (*Role, "others"):
            raise UnknownName("role", role, [*Role, "others"])
        if role in named:
            raise BadInput(f"team {text!r} names {role} twice")
        named[role] = policy
    missing = [role for role in Role if role not in named]
    if missing and "others" not in named:
        raise BadInput(
            f"team {text!r} leaves out {', '.join(missing)}; name them, or others=POLICY"
        )
    return named


def _is_one_policy(text: str) -> bool:
    """A model's options have an ``=`` too; a team has one before any colon or slash."""
    if text.partition("=")[0].strip() in (*Role, "others"):
        return False
    return "=" not in re.split(r"[:/+]", text, maxsplit=1)[0]


class Table:
    """An episode being played by a team."""

    __slots__ = ("env", "episode", "key", "team")

    def __init__(self, env: Env, team: Team) -> None:
        self.env = env
        self.team = team
        self.episode = Episode(env.scenario, env.cause, env.rogue, team.name)
        self.key = policy_key(env.scenario)


def policy_key(scenario: Scenario) -> int:
    """What a policy draws in this episode depends on this and on the step."""
    return key_of("policy", scenario.seed)


def seat_of(env: Env, policy: Policy, key: int) -> Seat:
    view = env.view
    return Seat(view, key + view.step * STRIDE, env.world if policy.sees_truth else None)


def advance(tables: Sequence[Table]) -> list[Turn]:
    """One turn at every table. Each policy is asked once, for all the seats it holds."""
    waiting: dict[Policy, list[int]] = {}
    seats: list[Seat] = []
    for i, table in enumerate(tables):
        policy = table.team.seats[table.env.role]
        seats.append(seat_of(table.env, policy, table.key))
        if policy in waiting:
            waiting[policy].append(i)
        else:
            waiting[policy] = [i]
    turns: list[Turn | None] = [None] * len(tables)
    for policy, places in waiting.items():
        decisions = policy.decide([seats[i] for i in places])
        for i, decision in zip(places, decisions, strict=True):
            _require_probabilities(policy, decision)
            table = tables[i]
            turn = turns[i] = table.env.play(decision)
            table.episode.turns.append(turn)
    return [turn for turn in turns if turn is not None]


def _require_probabilities(policy: Policy, decision: Decision) -> None:
    """At once: the figures would be refused after the last episode, and NaN fits into no file."""
    for agent, value in (decision.suspicion or {}).items():
        if not 0 <= value <= 1:
            raise BadInput(
                f"policy {policy.name} told a suspicion of {value} for {agent!r:.60}; "
                "expected a number from 0 to 1"
            )


def play_many(
    scenarios: Iterable[Scenario],
    team: Team,
    *,
    rubric: CompositeRubric | None = None,
    side_by_side: int = 64,
) -> Iterator[Episode]:
    """Play all scenarios, ``side_by_side`` at a time; episodes come out in their order.

    The order and the number of tables never change an episode.
    """
    rubric = rubric or standard()
    source = iter(scenarios)
    queue: list[Table] = []  # in order; finished ones wait for those before them
    live: list[Table] = []
    while True:
        for scenario in islice(source, side_by_side - len(live)):
            table = Table(Env(scenario, rubric), team)
            queue.append(table)
            live.append(table)
        if not live:
            return
        advance(live)
        live = [table for table in live if not table.env.over]
        while queue and queue[0].env.over:
            yield queue.pop(0).episode


def play(scenario: Scenario, team: Team, *, rubric: CompositeRubric | None = None) -> Episode:
    """Play one episode to its end."""
    return next(play_many([scenario], team, rubric=rubric))


def watch(tables: Sequence[Table]) -> Iterator[list[tuple[int, Turn]]]:
    """Play some tables to their end and look up after every turn: (table, its turn)."""
    while live := [i for i, table in enumerate(tables) if not table.env.over]:
        turns = advance([tables[i] for i in live])
        yield list(zip(live, turns, strict=True))
