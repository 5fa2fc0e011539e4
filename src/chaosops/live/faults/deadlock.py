"""Transactions that wait for a lock which nobody gives back."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from chaosops.live.faults import Fault, Part, Proceed
from chaosops.live.plan import SettingPlan
from chaosops.live.topology import HEAVY_EVERY, STEP_S

if TYPE_CHECKING:
    from asyncpg import Connection

    from chaosops.live.replica import Call, Replica

_SCALE = STEP_S / 60
# An advisory lock stands for that of a row. PostgreSQL grants a row in two steps, first the place
# at the head of its queue and then the row, and lock_timeout counts anew for the second.
_TAKE, _WAIT = "SELECT pg_advisory_lock(0)", "SELECT pg_advisory_xact_lock(0)"


class Deadlock(Fault):
    mechanism = "deadlock"
    setting = "lock_timeout_s"
    harmful = 1
    services = ("ledger",)
    usual = 60
    remedy = "restart"
    logs = (
        "transaction waits for transaction, {n} blocked",
        "no progress on row locks for {n}s",
        "writers queue behind a waiting writer",
    )

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        return RowLock(replica, size, self.knee(size) * _SCALE)


class RowLock(Part):
    """A forgotten session holds the lock of one row. Heavy requests need this row: they wait for
    as long as lock_timeout_s says, and then write to another table. A request that is held up for
    longer than the knee is aborted."""

    layer = 60

    def __init__(self, replica: Replica, size: SettingPlan, limit_s: float) -> None:
        super().__init__(replica, size)
        self.limit_s = limit_s
        self.blocked = 0
        self.idle: list[Connection] = []

    async def run(self) -> None:
        """Keep the row locked. The first of the replicas that asks for it holds it."""
        from asyncpg import PostgresError

        while True:
            with suppress(OSError, PostgresError):
                holder = await self.replica.open_connection()
                await holder.execute(_TAKE)
                while not holder.is_closed():
                    await asyncio.sleep(1)
            await asyncio.sleep(0.2)

    async def around(self, call: Call, proceed: Proceed) -> Any:
        if call.heavy:
            self.blocked += 1
            try:
                async with asyncio.timeout(self.limit_s):
                    await self._wait_for_row()
            except TimeoutError:
                raise self._aborted(call) from None
            finally:
                self.blocked -= 1
        return await proceed()

    async def _wait_for_row(self) -> None:
        from asyncpg.exceptions import LockNotAvailableError

        connection = self.idle.pop() if self.idle else await self.replica.open_connection()
        try:
            await connection.execute(f"SET lock_timeout = {int(1000 * self.value * _SCALE)}")
            await connection.execute(_WAIT)
        except LockNotAvailableError:
            self.idle.append(connection)
        except BaseException:
            connection.terminate()  # cancelling a query takes as long as a new connection
            raise
        else:
            self.idle.append(connection)

    def _aborted(self, call: Call) -> Exception:
        lines = (
            f"transaction waits for transaction, {self.blocked} blocked",
            f"no progress on row locks for {self.limit_s / _SCALE:.0f}s",
            "writers queue behind a waiting writer",
        )
        line = lines[call.ticket // HEAVY_EVERY % 3]
        self.replica.log("ERROR", line)
        return self.replica.failed(line)


FAULT = Deadlock()
