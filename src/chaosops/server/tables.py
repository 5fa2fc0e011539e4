"""A table is an episode with four seats. Each seat has its own token and sees its role's view.

Every wait has a deadline. If a seat misses it, the table is abandoned and all seats are told.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from chaosops.access.limits import Quota
from chaosops.core.vocabulary import Role
from chaosops.server.episode import ServedEpisode
from chaosops.server.errors import Refusal
from chaosops.wire.openenv import ChaosOpsAction

if TYPE_CHECKING:
    from chaosops.server.seats import SeatLine


class Table:
    """``waiting`` for four seats, ``running``, then ``over`` or ``abandoned``."""

    def __init__(
        self, episode: ServedEpisode, turn_timeout_s: float, on_end: Callable[[Table], None]
    ) -> None:
        self.id = uuid4().hex
        self.tokens = {role: secrets.token_hex(16) for role in Role}
        self.status = "waiting"
        self.turn_timeout_s = turn_timeout_s
        self._episode = episode
        self._on_end = on_end
        self._outcome: dict[str, Any] | None = None
        self._seated: dict[Role, SeatLine] = {}
        self._clock: asyncio.TimerHandle | None = None
        self._restart_clock()

    @property
    def ended(self) -> bool:
        return self._outcome is not None

    def sit(self, role: Role, line: SeatLine) -> None:
        """Take a seat, or take it again after a lost connection. The latest connection counts."""
        earlier = self._seated.pop(role, None)
        if earlier is not None:
            text = "another connection has taken this seat with its token"
            earlier.post("error", {"code": "SEAT_TAKEN_OVER", "message": text})
            earlier.close()
        self._seated[role] = line
        line.post(
            "seated",
            {
                "table": self.id,
                "role": role.value,
                "rules": self._episode.rules_of(role),
                "turn_timeout_s": self.turn_timeout_s,
            },
        )
        if self._outcome is not None:
            line.post(self.status, self._outcome)
            line.close()
        elif self.status == "waiting":
            if len(self._seated) == len(Role):
                self.status = "running"
                self._begin_turn()
        elif role is self._episode.role:
            line.post("turn", self._turn())

    def leave(self, role: Role, line: SeatLine) -> None:
        """The client left. Its seat stays free for it until the deadline."""
        if self._seated.get(role) is line:
            del self._seated[role]

    def act(self, role: Role, said: ChaosOpsAction, line: SeatLine) -> None:
        self._require_turn(role)
        if self._seated.get(role) is not line:
            raise Refusal("SEAT_TAKEN_OVER", "another connection has this seat")
        self._episode.play(self._episode.read(said))
        line.post("acted", {"step": self._episode.record.steps})
        if self._episode.env.over:
            self._end("over", {"debrief": self._episode.debrief()})
        else:
            self._begin_turn()

    def describe(self) -> dict[str, Any]:
        """The state of the table, without any view."""
        on_turn = self._episode.role if self.status == "running" else None
        return {
            "table": self.id,
            "status": self.status,
            "step": self._episode.record.steps,
            "limit": self._episode.env.scenario.limit,
            "role": on_turn and on_turn.value,
            "seated": [role.value for role in Role if role in self._seated],
            "message": None,
            "debrief": None,
            **(self._outcome or {}),
        }

    def _require_turn(self, role: Role) -> None:
        if self.ended:
            raise Refusal("TABLE_ENDED", f"the table is {self.status}")
        if self.status == "waiting":
            missing = ", ".join(seat for seat in Role if seat not in self._seated)
            raise Refusal(
                "NOT_STARTED", f"the incident starts when all seats are taken; missing: {missing}"
            )
        if role is not self._episode.role:
            on_turn = self._episode.role or "nobody"
            raise Refusal("NOT_YOUR_TURN", f"it is the turn of {on_turn}, not of {role}")

    def _turn(self) -> dict[str, Any]:
        public = self._episode.env.world.public
        return {"step": public.step, "limit": public.limit, **self._episode.seen()}

    def _begin_turn(self) -> None:
        role = self._episode.role
        if role in self._seated:
            self._seated[role].post("turn", self._turn())
        self._restart_clock()

    def _restart_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
        self._clock = asyncio.get_running_loop().call_later(self.turn_timeout_s, self._abandon)

    def _abandon(self) -> None:
        seconds = f"{self.turn_timeout_s:g} s"
        if self.status == "waiting":
            missing = ", ".join(role for role in Role if role not in self._seated)
            text = f"{missing} did not sit down within {seconds}: the incident never started"
        else:
            text = f"{self._episode.role} did not act within {seconds}: the table is abandoned"
        self._end("abandoned", {"message": text})

    def _end(self, status: str, outcome: dict[str, Any]) -> None:
        self.status, self._outcome = status, outcome
        if self._clock is not None:
            self._clock.cancel()
        for line in self._seated.values():
            line.post(status, outcome)
            line.close()
        self._on_end(self)


# How many ended tables are kept for each that may be open.
_REMEMBERED = 4


class Lobby:
    """All tables. One that has ended is kept for ``keep_s`` seconds, so that clients can read its
    outcome, or until too many others have ended."""

    def __init__(self, quota: Quota, keep_s: float) -> None:
        self.keep_s = keep_s
        self.quota = quota
        self.tables: dict[str, Table] = {}
        self.seats: dict[str, tuple[Table, Role]] = {}  # by their tokens

    def open(self, episode: ServedEpisode, turn_timeout_s: float, client: str) -> Table:
        self.quota.take(client)
        ended = [table for table in self.tables.values() if table.ended]
        if len(ended) >= _REMEMBERED * self.quota.most:
            self._forget(ended[0])
        table = Table(episode, turn_timeout_s, lambda table: self._ended(table, client))
        self.tables[table.id] = table
        for role, token in table.tokens.items():
            self.seats[token] = (table, role)
        return table

    def _ended(self, table: Table, client: str) -> None:
        self.quota.give_back(client)
        asyncio.get_running_loop().call_later(self.keep_s, self._forget, table)

    def _forget(self, table: Table) -> None:
        self.tables.pop(table.id, None)
        for token in table.tokens.values():
            self.seats.pop(token, None)
