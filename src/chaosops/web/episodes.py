"""An episode for spectators, turn by turn. Unlike players, they see rewards and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chaosops.core.actions import Action
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.report.frames import Frame, first_frame, next_frame
from chaosops.rollout import Rollout, Team, advance
from chaosops.web.choices import SeatMoves, read_move
from chaosops.web.episode_pool import Lines, Slot, line
from chaosops.web.policy_cache import PolicyCache, Unavailable
from chaosops.web.wire import frame_to_wire, status_details, status_words
from chaosops.wire.views import rules_to_wire


class WebHumanPolicy:
    """A human policy for a visitor: the page sends the moves, and they are played in order."""

    name = "you"
    sees_truth = False

    def __init__(self, moves: Iterable[Action] = ()) -> None:
        self.moves = list(moves)
        self._played = 0

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        if self._played == len(self.moves):
            raise BadInput(
                f"this link holds {self._played} moves, but the episode goes on; play it again"
            )
        self._played += 1
        return [Decision(self.moves[self._played - 1])]

    def status(self) -> Mapping[str, Any]:
        return {"kind": "human"}


async def fetch(cache: PolicyCache, name: str, slot: Slot) -> Policy:
    if cache.takes_time(name):  # outside the slot's threads: a visitor who leaves frees it at once
        return await cache.wait_for(name)
    return await slot.work(cache.load, name)


async def stream_episode(
    cache: PolicyCache, scenario: Scenario, name: str, seat_moves: SeatMoves | None, slot: Slot
) -> Lines:
    if cache.takes_time(name):
        yield line({"kind": "loading", "policy": name})
    try:
        policy = await fetch(cache, name, slot)
    except Unavailable as error:
        yield line({"kind": "unavailable", "policy": name, "why": str(error)})
        return
    rollout = await slot.work(make_rollout, scenario, name, policy, seat_moves)
    frame = first_frame(rollout.episode, rollout.env.world.public)
    yield line(start_to_wire(rollout, frame))
    yield line(frame_to_wire(frame))
    while not rollout.env.over:
        frame, message = await slot.work(one_turn, rollout, frame)
        yield message


def make_rollout(
    scenario: Scenario, name: str, policy: Policy, seat_moves: SeatMoves | None
) -> Rollout:
    env = Env(scenario)
    if seat_moves is None:
        return Rollout(env, Team(dict.fromkeys(Role, policy), name))
    rules, role = env.world.public.rules, seat_moves.role
    visitor = WebHumanPolicy(read_move(move, rules, role) for move in seat_moves.moves)
    return Rollout(env, team_with(visitor, role, name, policy))


def team_with(visitor: WebHumanPolicy, role: Role, name: str, partners: Policy) -> Team:
    return Team({**dict.fromkeys(Role, partners), role: visitor}, f"you as {role}, {name}")


def one_turn(rollout: Rollout, frame: Frame) -> tuple[Frame, bytes]:
    advance([rollout])
    after = next_frame(frame, rollout.episode, rollout.env.world.public)
    return after, line(frame_to_wire(after, frame))


def start_to_wire(rollout: Rollout, frame: Frame) -> dict[str, Any]:
    return {
        "kind": "start",
        "team": frame.team,
        "title": frame.title,
        "limit": frame.limit,
        "status": status_words(rollout.team.status()),
        "details": status_details(rollout.team.status()),
        **rules_to_wire(rollout.env.world.public.rules),
    }
