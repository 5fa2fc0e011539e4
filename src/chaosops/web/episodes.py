"""An episode for spectators, turn by turn. They may see what a flag was worth: they do not play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chaosops.core.actions import Action
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.rollout import Rollout, Team, advance
from chaosops.surfaces.frames import Frame, first_frame, next_frame
from chaosops.web.choices import Seating, read_move
from chaosops.web.shelf import Shelf, Unavailable
from chaosops.web.stage import Lines, Place, line
from chaosops.web.wire import frame_to_wire, status_details, status_words
from chaosops.wire.views import rules_to_wire


class VisitorSeat:
    """Plays what the visitor did, in order."""

    name = "you"
    sees_truth = False

    def __init__(self) -> None:
        self.moves: list[Action] = []
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


async def fetch(shelf: Shelf, name: str, place: Place) -> Policy:
    """Who goes away while a model is being loaded gives his place back at once."""
    if shelf.takes_time(name):
        return await shelf.arrival(name)
    return await place.work(shelf.load, name)


async def stream_episode(
    shelf: Shelf, scenario: Scenario, name: str, seating: Seating | None, place: Place
) -> Lines:
    if shelf.takes_time(name):
        yield line({"kind": "loading", "policy": name})
    try:
        policy = await fetch(shelf, name, place)
    except Unavailable as error:
        yield line({"kind": "unavailable", "policy": name, "why": str(error)})
        return
    rollout = await place.work(make_rollout, scenario, name, policy, seating)
    frame = first_frame(rollout.episode, rollout.env.world.public)
    yield line(start_to_wire(rollout, frame))
    yield line(frame_to_wire(frame))
    while not rollout.env.over:
        frame, message = await place.work(one_turn, rollout, frame)
        yield message


def make_rollout(scenario: Scenario, name: str, policy: Policy, seating: Seating | None) -> Rollout:
    env = Env(scenario)
    if seating is None:
        return Rollout(env, Team(dict.fromkeys(Role, policy), name))
    visitor = VisitorSeat()
    rules = env.world.public.rules
    visitor.moves = [read_move(move, rules, seating.role) for move in seating.moves]
    return Rollout(env, team_with(visitor, seating.role, name, policy))


def team_with(visitor: VisitorSeat, role: Role, name: str, partners: Policy) -> Team:
    seats: dict[Role, Policy] = dict.fromkeys(Role, partners)
    return Team({**seats, role: visitor}, f"you as {role}, {name}")


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
