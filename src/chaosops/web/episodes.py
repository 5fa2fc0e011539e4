"""An episode for spectators, turn by turn. Unlike players, they see rewards and verdicts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

from chaosops.core.actions import Action
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import load_pack
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.report.frames import Frame, frame_of
from chaosops.rollout import Rollout, Team, advance
from chaosops.web.case_wire import case_file_to_wire
from chaosops.web.choices import SeatMoves, read_move
from chaosops.web.episode_pool import Lines, Slot, line
from chaosops.web.policy_cache import PolicyCache, QueuedPolicy
from chaosops.web.real_time import one_at_a_time
from chaosops.web.wire import frame_to_wire, rules_to_wire, status_details, status_words

THINKING_S = 1.0  # between two lines about a model that thinks


class WebHumanPolicy:
    """A human policy for a visitor: the page sends the moves, and they are played in order."""

    name = "you"
    sees_truth = False

    def __init__(self, moves: Iterable[Action] = ()) -> None:
        self.moves = list(moves)
        self._played = 0

    @property
    def has_move(self) -> bool:
        """A move waits to be played."""
        return self._played < len(self.moves)

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        if self._played == len(self.moves):
            raise BadInput(
                f"this link holds {self._played} moves, but the episode goes on; play it again"
            )
        self._played += 1
        return [Decision(self.moves[self._played - 1])]

    def status(self) -> Mapping[str, Any]:
        return {"kind": "human"}


class Cast(NamedTuple):
    """A policy for all roles, or for one ``role`` while ``partners`` play the others."""

    policy: str
    role: Role | None = None
    partners: str = ""

    @property
    def names(self) -> dict[Role, str]:
        if self.role is None:
            return dict.fromkeys(Role, self.policy)
        return {**dict.fromkeys(Role, self.partners), self.role: self.policy}

    @property
    def title(self) -> str:
        """As ``chaosops run --policy`` reads it."""
        return f"{self.role}={self.policy},others={self.partners}" if self.role else self.policy


async def stream_episode(
    cache: PolicyCache, scenario: Scenario, cast: Cast, seat_moves: SeatMoves | None, slot: Slot
) -> Lines:
    played = _stream(cache, scenario, cast, seat_moves, slot)
    if load_pack(scenario.pack).real_time:
        played = one_at_a_time(scenario.pack, played, slot)
    async with aclosing(played) as lines:
        async for item in lines:
            yield item


async def _stream(
    cache: PolicyCache, scenario: Scenario, cast: Cast, seat_moves: SeatMoves | None, slot: Slot
) -> Lines:
    names = dict.fromkeys(cast.names.values())
    if any(cache.takes_time(name) for name in names):
        yield line({"kind": "loading"})
    loaded = {name: await cache.load(name) for name in names}
    policies = {role: loaded[name] for role, name in cast.names.items()}
    if load_pack(scenario.pack).real_time:
        yield line({"kind": "starting"})
    rollout = await slot.work(make_rollout, scenario, Team(policies, cast.title), seat_moves)
    frame = frame_of(rollout)
    yield line(start_to_wire(rollout, frame))
    yield line(frame_to_wire(frame))
    while not rollout.env.over:
        turn = asyncio.ensure_future(slot.work(next_frame, rollout, frame))
        async with aclosing(thinking(rollout, turn, slot)) as lines:
            async for item in lines:
                yield item
        before, frame = frame, turn.result()
        yield line(frame_to_wire(frame, before))
    yield line(await slot.work(case_file_to_wire, rollout.episode))


async def thinking(rollout: Rollout, turn: asyncio.Future[Frame], slot: Slot) -> Lines:
    """Lines while a model decides: who thinks, for how long, what it has read so far in this
    episode, and how many calls the model answers before this one. Scripts think for no time."""
    role, started = rollout.env.role, time.monotonic()
    is_model = isinstance(rollout.team.policies[role], QueuedPolicy)
    try:
        while not (await asyncio.wait({turn}, timeout=THINKING_S if is_model else None))[0]:
            yield line(
                {
                    "kind": "thinking",
                    "role": role.value,
                    "seconds": round(time.monotonic() - started),
                    "tokens": rollout.episode.tokens_read + rollout.episode.tokens_written,
                    "ahead": slot.ahead(),
                }
            )
    finally:
        turn.cancel()  # the visitor left; a turn that is over stays as it is


def make_rollout(scenario: Scenario, team: Team, seat_moves: SeatMoves | None) -> Rollout:
    env = Env(scenario)
    if seat_moves is None:
        return Rollout(env, team)
    rules, wordings = env.world.public.rules, load_pack(scenario.pack).wordings
    role = seat_moves.role
    visitor = WebHumanPolicy(read_move(move, rules, role, wordings) for move in seat_moves.moves)
    return Rollout(env, team_with(visitor, role, team.name, team.policies[role]))


def team_with(visitor: WebHumanPolicy, role: Role, name: str, partners: Policy) -> Team:
    return Team({**dict.fromkeys(Role, partners), role: visitor}, f"you as {role}, {name}")


def next_frame(rollout: Rollout, frame: Frame) -> Frame:
    """Play a turn."""
    advance([rollout])
    return frame_of(rollout, frame)


def start_to_wire(rollout: Rollout, frame: Frame) -> dict[str, Any]:
    return {
        "kind": "start",
        "team": frame.team,
        "title": frame.title,
        "limit": frame.limit,
        "status": status_words(rollout.team.status()),
        "details": status_details(rollout.team.status()),
        **rules_to_wire(
            rollout.env.world.public.rules, load_pack(rollout.env.scenario.pack).wordings
        ),
    }
