"""Too few connections for the work in flight."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from chaosops.live.faults import Fault, Part, Proceed
from chaosops.live.plan import SettingPlan

if TYPE_CHECKING:
    from chaosops.live.replica import Call, Replica

_PATIENCE_S = 0.4


class PoolExhaustion(Fault):
    mechanism = "pool_exhaustion"
    setting = "pool_size"
    harmful = -1
    services = ("ledger", "accounts")
    usual = 60
    remedy = "rollback"
    logs = (
        "waited {n}ms for a connection",
        "all connections in use, {n} queued",
        "no free worker for {n}ms",
    )

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        return Pool(replica, size, self.knee(size))


class Pool(Part):
    """Long reports hold connections all the time. Requests share what the pool has beyond these:
    one connection, if the pool is as small as the knee."""

    layer = 70

    def __init__(self, replica: Replica, size: SettingPlan, knee: float) -> None:
        super().__init__(replica, size)
        usual = replica.usual_count
        self.held = max(0, int(knee / usual) - 1) if replica.slot < usual else 0
        self.in_use = 0
        self.waiting: list[asyncio.Future[None]] = []

    @property
    def limit(self) -> int:
        return self.replica.share(self.value)

    def busy(self) -> float:
        return (self.held + self.in_use + len(self.waiting)) / max(1, self.limit)

    async def run(self) -> None:
        """Hold the connections of the reports. They are real ones, opened one after the other."""
        from asyncpg import PostgresError

        held: list[Any] = []
        while len(held) < self.held:
            with suppress(OSError, PostgresError):
                held.append(await self.replica.open_connection())
            await asyncio.sleep(0.05)
        await asyncio.Event().wait()

    def changed(self) -> None:
        self._admit()

    async def around(self, call: Call, proceed: Proceed) -> Any:
        if call.heavy:  # these have connections of their own
            return await proceed()
        await self._take(call)
        try:
            return await proceed()
        finally:
            self.in_use -= 1
            self._admit()

    def _admit(self) -> None:
        while self.waiting and self.held + self.in_use < self.limit:
            future = self.waiting.pop(0)
            if not future.done():
                self.in_use += 1
                future.set_result(None)

    async def _take(self, call: Call) -> None:
        if not self.waiting and self.held + self.in_use < self.limit:
            self.in_use += 1
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(future)
        since = monotonic()
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await future
        except TimeoutError:
            if future in self.waiting:
                self.waiting.remove(future)
            elif not future.cancelled():  # it was admitted at the same moment
                self.in_use -= 1
                self._admit()
            raise self._gave_up(call, monotonic() - since) from None

    def _gave_up(self, call: Call, waited: float) -> Exception:
        lines = (
            f"waited {1000 * waited:.0f}ms for a connection",
            f"all connections in use, {1 + len(self.waiting)} queued",
            f"no free worker for {1000 * waited:.0f}ms",
        )
        line = lines[call.ticket % 3]
        self.replica.log("ERROR", line)
        return self.replica.failed(line)


FAULT = PoolExhaustion()
