"""Seats for visitors. Until the episode is over, a visitor gets the view of one role: no reward,
no verdict, no other view."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from threading import RLock

from chaosops.access.limits import Quota
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import load_pack, require_simulated
from chaosops.policies.protocol import Policy
from chaosops.report.frames import Frame, frame_of
from chaosops.report.introduction import introduction
from chaosops.report.suspects import by_first_sight, sighted
from chaosops.report.wording import Wordings
from chaosops.roles.view import RoleView, project
from chaosops.rollout import Rollout
from chaosops.web.case_wire import case_file_to_wire
from chaosops.web.choices import read_move, require_act
from chaosops.web.episode_pool import Lines, Slot, line
from chaosops.web.episodes import WebHumanPolicy, next_frame, start_to_wire, team_with, thinking
from chaosops.web.policy_cache import PolicyCache, QueuedPolicy
from chaosops.web.wire import frame_to_wire, menu_to_wire, rules_to_wire, view_to_wire

CLAIM_S = 20.0


class SeatGone(BadInput):
    """The seat was left, its episode is over, or it never existed."""


@dataclass
class Seat:
    """One role of an episode, taken by a visitor."""

    key: str
    role: Role
    rollout: Rollout
    visitor: WebHumanPolicy
    frames: list[Frame]
    used: float
    client: str
    is_with_model: bool
    in_turn: bool = False  # the server is playing a turn
    is_claimed: bool = False  # the visitor has used the key
    sighted: frozenset[int] = frozenset()  # the acts that were in sight so far

    @property
    def view(self) -> RoleView:
        return project(self.rollout.env.world.public, self.role)

    @property
    def wordings(self) -> Wordings:
        return load_pack(self.rollout.env.scenario.pack).wordings


class Seats:
    """The seats of all visitors, each with a random key. A seat is freed when its key is not used
    within ``claim_s``, or later for ``idle_s``. Seats are taken in the threads of the pool and
    left in the event loop's thread."""

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
        self._seated: dict[str, Seat] = {}
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self._seated)

    def require_room(self, client: str) -> None:
        with self._lock:
            self._clear()
            self._quota.require(client)

    def sit(self, scenario: Scenario, role: Role, name: str, partners: Policy, client: str) -> Seat:
        require_simulated(scenario.pack, "with a person in a role on this page")
        visitor = WebHumanPolicy()
        rollout = Rollout(Env(scenario), team_with(visitor, role, name, partners))
        frames = [frame_of(rollout)]
        key = secrets.token_urlsafe(24)
        is_with_model = isinstance(partners, QueuedPolicy)
        seat = Seat(key, role, rollout, visitor, frames, self._clock(), client, is_with_model)
        with self._lock:
            self._clear()
            self._quota.take(client)
            self._seated[key] = seat
        return seat

    def find(self, key: str) -> Seat:
        with self._lock:
            self._clear()
            seat = self._seated.get(key)
            if seat is not None:
                seat.used = self._clock()
                seat.is_claimed = True
                return seat
        minutes = round(self._idle_s / 60)
        raise SeatGone(
            f"this seat is no longer yours: the episode is over, nothing was done for "
            f"{minutes} minutes, or its key was not claimed within {self._claim_s:g} s; "
            "take a new seat"
        )

    def await_move(self, seat: Seat) -> None:
        seat.in_turn = False
        seat.used = self._clock()

    def leave(self, key: str) -> None:
        with self._lock:
            seat = self._seated.pop(key, None)
            if seat is not None:
                self._quota.give_back(seat.client)

    def _clear(self) -> None:
        with self._lock:
            now = self._clock()
            for key, seat in list(self._seated.items()):
                is_known = seat.is_claimed or seat.in_turn
                if now - seat.used > (self._idle_s if is_known else self._claim_s):
                    self.leave(key)


async def stream_new_seat(
    seats: Seats,
    cache: PolicyCache,
    scenario: Scenario,
    role: Role,
    name: str,
    slot: Slot,
    client: str,
    moves: Sequence[object] = (),
) -> Lines:
    """Take a seat and play until the visitor's next turn. ``moves`` were made before: the seat was
    left, and is taken again."""
    if cache.takes_time(name):
        yield line({"kind": "loading"})
    partners = await cache.load(name)
    if partners.sees_truth:
        raise BadInput(
            f"{name} knows the truth and would reveal it in the chat; choose other partners"
        )
    seat = await slot.work(seats.sit, scenario, role, name, partners, client)
    # A visitor who leaves before this line never claims the seat.
    seat.in_turn = True
    try:
        rules = rules_to_wire(seat.view.rules, seat.wordings)
        if seat.view.rules.charter:
            rules["agents"] = by_first_sight(seat.view)
        told = introduction(role, name) if rules.get("runbook") else []
        seated = {"kind": "seated", "seat": seat.key, "role": role.value, "introduction": told}
        yield line({**seated, **rules})
    except BaseException:  # the visitor left before the key was sent
        seats.leave(seat.key)
        raise
    async with aclosing(play_on(seats, seat, slot, moves)) as lines:
        async for item in lines:
            yield item


def accept_move(seat: Seat, move: object) -> None:
    """Check a move before streaming starts, while an error can still set the status."""
    if seat.in_turn:
        raise BadInput("your move is being played already; wait for your next turn")
    _take(seat, move)
    seat.in_turn = True


def _take(seat: Seat, move: object) -> None:
    view = seat.view
    action = read_move(move, view.rules, seat.role, seat.wordings)
    require_act(action, view)
    seat.visitor.moves.append(action)


async def play_on(seats: Seats, seat: Seat, slot: Slot, moves: Sequence[object] = ()) -> Lines:
    """Play until the visitor's next turn or the end. The move that was accepted comes first, and
    ``moves`` are made at the next turns. The views before the last of them are not sent."""
    env, role = seat.rollout.env, seat.role
    again = deque(moves)
    waiting = False
    try:
        while not env.over:
            if again and env.role is role:
                _take(seat, again.popleft())
            if again or seat.visitor.has_move:
                async with aclosing(_turn(seat, slot)) as lines:
                    async for item in lines:
                        yield item
                continue
            view = seat.view
            yield line(view_to_wire(view, env.role, seat.wordings, seat.sighted))
            if env.role is role:
                waiting = True
                seats.await_move(seat)
                yield line({"kind": "your_turn", "menu": menu_to_wire(view, seat.wordings)})
                return
            async with aclosing(_turn(seat, slot)) as lines:
                async for item in lines:
                    yield item
        for item in await slot.work(_whole_episode, seat):
            yield item
    finally:
        # The episode is over, or the visitor left during another role's turn.
        if not waiting:
            seats.leave(seat.key)


async def _turn(seat: Seat, slot: Slot) -> Lines:
    """Play a turn. Until it is over, tell who thinks."""
    if seat.view.rules.charter:
        seat.sighted |= sighted(seat.view)
    turn = asyncio.ensure_future(slot.work(next_frame, seat.rollout, seat.frames[-1]))
    async with aclosing(thinking(seat.rollout, turn, slot)) as lines:
        async for item in lines:
            yield item
    seat.frames.append(turn.result())


def _whole_episode(seat: Seat) -> list[bytes]:
    """All frames as a spectator would have seen them, once the episode is over."""
    frames = seat.frames
    start = start_to_wire(seat.rollout, frames[0])
    pairs = zip([None, *frames], frames, strict=False)
    return [
        line({"kind": "over"}),
        line(start),
        *(line(frame_to_wire(frame, before)) for before, frame in pairs),
        line(case_file_to_wire(seat.rollout.episode)),
    ]
