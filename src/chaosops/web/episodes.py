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
from chaosops.packs import load_pack
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.report.frames import Frame, frame_of
from chaosops.rollout import Rollout, Team, advance
from chaosops.web.choices import SeatMoves, read_move
from chaosops.web.episode_pool import Lines, Slot, line
from chaosops.web.policy_cache import PolicyCache
from chaosops.web.wire import frame_to_wire, rules_to_wire, status_details, status_words


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


async def stream_episode(
    cache: PolicyCache, scenario: Scenario, name: str, seat_moves: SeatMoves | None, slot: Slot
) -> Lines:
    if cache.takes_time(name):
        yield line({"kind": "loading"})
    policy = await cache.load(name)
    rollout = await slot.work(make_rollout, scenario, name, policy, seat_moves)
    frame = frame_of(rollout)
    yield line(start_to_wire(rollout, frame))
    yield line(frame_to_wire(frame))
    while not rollout.env.over:
        before, frame = frame, await slot.work(next_frame, rollout, frame)
        yield line(frame_to_wire(frame, before))


def make_rollout(
    scenario: Scenario, name: str, policy: Policy, seat_moves: SeatMoves | None
) -> Rollout:
    env = Env(scenario)
    if seat_moves is None:
        return Rollout(env, Team(dict.fromkeys(Role, policy), name))
    rules, wordings = env.world.public.rules, load_pack(scenario.pack).wordings
    role = seat_moves.role
    visitor = WebHumanPolicy(read_move(move, rules, role, wordings) for move in seat_moves.moves)
    return Rollout(env, team_with(visitor, role, name, policy))


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
