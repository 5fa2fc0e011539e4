"""A seat for the visitor. Until the episode is over he is sent his role's view and nothing else:
no reward, no verdict, no other role's eyes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from threading import RLock

from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.protocol import Policy
from chaosops.roles.view import project
from chaosops.rollout import Table
from chaosops.surfaces.frames import Frame, first_frame
from chaosops.web.choices import read_move
from chaosops.web.episodes import VisitorSeat, fetch, one_turn, start_to_wire, team_with
from chaosops.web.shelf import Shelf, Unavailable
from chaosops.web.stage import Busy, Lines, Place, line
from chaosops.web.wire import frame_to_wire, menu_to_wire, rules_for, view_to_wire


class SeatGone(BadInput):
    """A seat that was left, has ended, or never was."""


@dataclass
class Seated:
    """An episode in which the visitor has ``role``."""

    key: str
    role: Role
    table: Table
    visitor: VisitorSeat
    frames: list[Frame]
    used: float
    in_turn: bool = field(default=False)


class Seats:
    """All visitors who play. Each is known by a key that nobody can guess.
    Seats are taken in the threads of the stage, and left in the server's own."""

    def __init__(
        self, most: int, idle_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._idle_s = idle_s
        self._clock = clock
        self._seated: dict[str, Seated] = {}
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self._seated)

    def require_room(self) -> None:
        with self._lock:
            self._clear()
            if len(self._seated) >= self._most:
                raise Busy(
                    f"{self._most} visitors are playing, as many as this server seats; "
                    "watch an episode meanwhile, or try again in some minutes"
                )

    def sit(self, scenario: Scenario, role: Role, name: str, partners: Policy) -> Seated:
        visitor = VisitorSeat()
        table = Table(Env(scenario), team_with(visitor, role, name, partners))
        frames = [first_frame(table.episode, table.env.world.public)]
        key = secrets.token_urlsafe(24)
        seated = Seated(key, role, table, visitor, frames, self._clock())
        with self._lock:
            self.require_room()
            self._seated[key] = seated
        return seated

    def find(self, key: str) -> Seated:
        with self._lock:
            self._clear()
            seated = self._seated.get(key)
            if seated is not None:
                seated.used = self._clock()
                return seated
        minutes = round(self._idle_s / 60)
        raise SeatGone(
            f"this seat is no longer yours: the episode is over, or nothing was done for "
            f"{minutes} minutes; take a new seat"
        )

    def leave(self, key: str) -> None:
        with self._lock:
            self._seated.pop(key, None)

    def _clear(self) -> None:
        with self._lock:
            oldest = self._clock() - self._idle_s
            for key in [key for key, seated in self._seated.items() if seated.used < oldest]:
                self.leave(key)


async def stream_sitting(
    seats: Seats, shelf: Shelf, scenario: Scenario, role: Role, name: str, place: Place
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
    seated = await place.work(seats.sit, scenario, role, name, partners)
    rules = rules_for(seated.table.env.world.public.rules, role)
    yield line({"kind": "seated", "seat": seated.key, "role": role.value, **rules})
    async with aclosing(_play_on(seats, seated, place, moved=False)) as lines:
        async for item in lines:
            yield item


def take_move(seated: Seated, move: object) -> None:
    """Checked before anything is streamed, so that a bad move can be answered as an error."""
    if seated.in_turn:
        raise BadInput("your move is being played already; wait for your next turn")
    rules = seated.table.env.world.public.rules
    seated.visitor.moves.append(read_move(move, rules, seated.role))
    seated.in_turn = True


async def stream_move(seats: Seats, seated: Seated, place: Place) -> Lines:
    """From the visitor's move to his next turn, or to the end."""
    async with aclosing(_play_on(seats, seated, place, moved=True)) as lines:
        async for item in lines:
            yield item


async def _play_on(seats: Seats, seated: Seated, place: Place, *, moved: bool) -> Lines:
    env, role = seated.table.env, seated.role
    waiting = False
    try:
        if moved:
            await _turn(seated, place)
        while not env.over:
            view = project(env.world.public, role)
            yield line({**view_to_wire(view), "on_turn": env.role.value})
            if env.role is role:
                waiting, seated.in_turn = True, False
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
    frame, _ = await place.work(one_turn, seated.table, seated.frames[-1])
    seated.frames.append(frame)


def _whole_episode(seated: Seated) -> list[bytes]:
    """Now that it is over, everything, as a spectator would have seen it."""
    frames = seated.frames
    start = start_to_wire(seated.table, frames[0])
    pairs = zip([None, *frames], frames, strict=False)
    return [
        line({"kind": "over"}),
        line(start),
        *(line(frame_to_wire(frame, before)) for before, frame in pairs),
    ]
