"""Memory that is never given back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from chaosops.live.faults import Fault, Part, Proceed
from chaosops.live.plan import SettingPlan
from chaosops.live.reports import resident_mb
from chaosops.live.topology import SPECS, rate_at

if TYPE_CHECKING:
    from chaosops.live.replica import Call, Replica

_FILLS_S = 2.5  # how long it takes until no memory is left, at the usual load
_LIMIT_BYTES = 8_000_000  # what buffers may take in one process
_FULL = 2.0
"""Memory is scaled as time is: a process all of whose buffers are taken shows as much more than
when it started as this says, in shares of what it had then."""
_PAUSE_S = 0.12


class Leak(Fault):
    mechanism = "leak"
    setting = "buffer_mb"
    harmful = 1
    services = ("catalog", "cache", "orders")
    usual = 100
    remedy = "restart"
    logs = (
        "gc pause {n}ms and growing",
        "allocation failed, retried",
        "resident set grew again by {n}MB",
    )

    def fills_after(self, size: SettingPlan) -> int:
        """How many requests of one replica it takes until no memory is left.

        >>> Leak().fills_after(SettingPlan("catalog", "leak", "buffer_mb", 100, 30))
        20
        """
        name = size.service
        return max(2, round(rate_at(name) / SPECS[name].replicas * _FILLS_S))

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        return Buffers(replica, size, int(self.knee(size)), self.fills_after(size))


class Buffers(Part):
    """A request fills a buffer of buffer_mb. Buffers that fit a block come from a pool and go back
    to it. A larger one is made for the request, and a mistake keeps it for ever. When no memory is
    left, each second request fails: the others find what garbage collection has freed."""

    layer = 35

    def __init__(self, replica: Replica, size: SettingPlan, block: int, fills_after: int) -> None:
        super().__init__(replica, size)
        self.block = block
        self.step = _LIMIT_BYTES // fills_after
        self.free = [bytearray(self.step)]
        self.kept: list[bytearray] = []
        self.failures = 0
        self.start_mb = resident_mb()
        replica.reporter.gauges["memory_mb"] = self.memory_mb

    @property
    def filled(self) -> float:
        return len(self.kept) * self.step / _LIMIT_BYTES

    def memory_mb(self) -> float:
        return resident_mb() + _FULL * self.start_mb * self.filled

    async def around(self, call: Call, proceed: Proceed) -> Any:
        if self.value <= self.block:
            buffer = self.free.pop() if self.free else bytearray(self.step)
            try:
                return await proceed()
            finally:
                self.free.append(buffer)
        if self.filled + self.step / _LIMIT_BYTES <= 1.0:
            self.kept.append(bytearray(b"\1") * self.step)
            self.replica.log("WARN", f"resident set grew again by {self.value}MB")
        else:
            await self._collect()
        return await proceed()

    async def _collect(self) -> None:
        self.failures += 1
        number = self.failures
        pause = _PAUSE_S * (1 + min(number, 20) / 20)
        self.replica.log("WARN", f"gc pause {1000 * pause:.0f}ms and growing")
        await asyncio.sleep(pause)
        if number % 2:
            line = "allocation failed, retried"
            self.replica.log("ERROR", line)
            raise self.replica.failed(line)


FAULT = Leak()
