"""A seat for the visitor. Until the episode is over he is sent his role's view and nothing else:
no reward, no verdict, no other role's eyes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from threading import RLock

from chaosops.access.quotas import Quota
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.protocol import Policy
from chaosops.roles.view import project
from chaosops.rollout import Rollout
from chaosops.surfaces.frames import Frame, first_frame
from chaosops.web.choices import read_move
from chaosops.web.episodes import VisitorSeat, fetch, one_turn, start_to_wire, team_with
from chaosops.web.shelf import AtDesk, Shelf, Unavailable
from chaosops.web.stage import Lines, Place, line
from chaosops.web.wire import frame_to_wire, menu_to_wire, view_to_wire
from chaosops.wire.views import rules_to_wire

CLAIM_S = 20.0


class SeatGone(BadInput):
    """A seat that was left, has ended, or never was."""


@dataclass
class Seated:
    """An episode in which the visitor has ``role``."""

    key: str
    role: Role
    rollout: Rollout
    visitor: VisitorSeat
    frames: list[Frame]
    used: float
    client: str
    is_with_model: bool
    in_turn: bool = False  # of others, or his own is being played
    is_claimed: bool = False  # somebody has shown that he read the key


class Seats:
    """All visitors who play. Each is known by a key that nobody can guess. A seat whose key is not
    used within ``claim_s`` falls free: nobody has read it.
    Seats are taken in the threads of the stage, and left in the server's own."""

    def __init__(
        self,
        quota: Quota,
        idle_s: float,
        claim_s: float = CLAIM_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._quota = quota
        self._idle_s = idle_s
        self._claim_s = claim_s
        self._clock = clock
        self._seated: dict[str, Seated] = {}
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self._seated)

    def require_room(self, client: str) -> None:
        with self._lock:
            self._clear()
            self._quota.require(client)

    def sit(
        self, scenario: Scenario, role: Role, name: str, partners: Policy, client: str
    ) -> Seated:
        visitor = VisitorSeat()
        rollout = Rollout(Env(scenario), team_with(visitor, role, name, partners))
        frames = [first_frame(rollout.episode, rollout.env.world.public)]
        key = secrets.token_urlsafe(24)
        is_with_model = isinstance(partners, AtDesk)
        seated = Seated(key, role, rollout, visitor, frames, self._clock(), client, is_with_model)
        with self._lock:
            self._clear()
            self._quota.take(client)
            self._seated[key] = seated
        return seated

    def find(self, key: str) -> Seated:
        with self._lock:
            self._clear()
            seated = self._seated.get(key)
            if seated is not None:
                seated.used = self._clock()
                seated.is_claimed = True
                return seated
        minutes = round(self._idle_s / 60)
        raise SeatGone(
            f"this seat is no longer yours: the episode is over, nothing was done for "
            f"{minutes} minutes, or its key was not claimed within {self._claim_s:g} s; "
            "take a new seat"
        )

    def await_move(self, seated: Seated) -> None:
        seated.in_turn = False
        seated.used = self._clock()

    def leave(self, key: str) -> None:
        with self._lock:
            seated = self._seated.pop(key, None)
            if seated is not None:
                self._quota.give_back(seated.client)

    def _clear(self) -> None:
        with self._lock:
            now = self._clock()
            for key, seated in list(self._seated.items()):
                is_known = seated.is_claimed or seated.in_turn
                if now - seated.used > (self._idle_s if is_known else self._claim_s):
                    self.leave(key)


async def stream_sitting(
    seats: Seats,
    shelf: Shelf,
    scenario: Scenario,
    role: Role,
    name: str,
    place: Place,
    client: str,
) -> Lines:
    """From taking the seat to the visitor's first turn."""
    if shelf.takes_time(name):
        yield line({"kind": "loading", "policy": name})
    try:
        partners = await fetch(shelf, name, place)
    except Unavailable as error:
        yield line({"kind": "unavailable", "policy": name, "why": str(error)})
        return
    if partners.sees_truth:
        raise BadInput(
            f"{name} knows the truth and would tell it in the chat; choose other partners"
        )
    seated = await place.work(seats.sit, scenario, role, name, partners, client)
    # Whoever left while the seat was being made never gets here: then nobody claims it.
    seated.in_turn = True
    try:
        rules = rules_to_wire(project(seated.rollout.env.world.public, role).rules)
        yield line({"kind": "seated", "seat": seated.key, "role": role.value, **rules})
    except BaseException:  # he went away before he could read it
        seats.leave(seated.key)
        raise
    async with aclosing(_play_on(seats, seated, place, moved=False)) as lines:
        async for item in lines:
            yield item


def take_move(seated: Seated, move: object) -> None:
    """Checked before anything is streamed, so that a bad move can be answered as an error."""
    if seated.in_turn:
        raise BadInput("your move is being played already; wait for your next turn")
    rules = seated.rollout.env.world.public.rules
    seated.visitor.moves.append(read_move(move, rules, seated.role))
    seated.in_turn = True


async def stream_move(seats: Seats, seated: Seated, place: Place) -> Lines:
    """From the visitor's move to his next turn, or to the end."""
    async with aclosing(_play_on(seats, seated, place, moved=True)) as lines:
        async for item in lines:
            yield item


async def _play_on(seats: Seats, seated: Seated, place: Place, *, moved: bool) -> Lines:
    env, role = seated.rollout.env, seated.role
    waiting = False
    try:
        if moved:
            await _turn(seated, place)
        while not env.over:
            view = project(env.world.public, role)
            yield line({**view_to_wire(view), "on_turn": env.role.value})
            if env.role is role:
                waiting = True
                seats.await_move(seated)
                yield line({"kind": "your_turn", "menu": menu_to_wire(view.rules, role)})
                return
            await _turn(seated, place)
        for item in _whole_episode(seated):
            yield item
    finally:
        # Over, or the visitor went away while others played: nobody will come back to it.
        if not waiting:
            seats.leave(seated.key)


async def _turn(seated: Seated, place: Place) -> None:
    frame, _ = await place.work(one_turn, seated.rollout, seated.frames[-1])
    seated.frames.append(frame)


def _whole_episode(seated: Seated) -> list[bytes]:
    """Now that it is over, everything, as a spectator would have seen it."""
    frames = seated.frames
    start = start_to_wire(seated.rollout, frames[0])
    pairs = zip([None, *frames], frames, strict=False)
    return [
        line({"kind": "over"}),
        line(start),
        *(line(frame_to_wire(frame, before)) for before, frame in pairs),
    ]
