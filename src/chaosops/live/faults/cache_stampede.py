"""A cache that is too small lets all traffic through."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from chaosops.live.faults import Fault, Part, Proceed
from chaosops.live.plan import SettingPlan
from chaosops.live.services import Cache

if TYPE_CHECKING:
    from chaosops.live.replica import Call, Replica

_PRODUCT_MB = 10  # of cache_mb, for each product that is kept
_STORE = "ledger"
_COLD_S = 0.05  # how long the store works on a read that the cache did not take
_WARM_S = 0.02  # and on any other request
_PATIENCE_S = 0.4
_HOT_S = 5.0  # a key that is read again within this time is hot


class CacheStampede(Fault):
    mechanism = "cache_stampede"
    setting = "cache_mb"
    harmful = -1
    services = ("cache",)
    usual = 400
    remedy = "warm_cache"
    logs = (
        "{n} cold reads in a row",
        "same key read {n} times at once",
        "hot key asked for again",
    )

    def shows_at(self, service: str) -> str:
        return _STORE

    def working_set(self, size: SettingPlan) -> int:
        """How many products are read in turn. They just fit, if the cache is as small as the knee.
        The number is odd: each of two, four or eight replicas is asked for all of them in turn.

        >>> CacheStampede().working_set(SettingPlan("cache", "cache_stampede", "cache_mb", 400, 30))
        27
        """
        return max(1, math.ceil(self.knee(size) / _PRODUCT_MB)) | 1

    def parts(self, replica: Replica, sizes: Mapping[str, SettingPlan]) -> list[Part]:
        size = sizes.get("cache")
        if size is None:
            return []
        if replica.service == "cache":
            return [Memory(replica, size, self.working_set(size))]
        return [Reads(replica, size)] if replica.service == _STORE else []


class Memory(Part):
    """Users read all products in turn, so a cache that cannot hold all of them keeps none until it
    is asked for again: what leaves first is what is read next."""

    def __init__(self, replica: Replica, size: SettingPlan, working_set: int) -> None:
        super().__init__(replica, size)
        self.cache: Cache = replica.shared["cache"]
        self.cache.working_set = working_set
        self.changed()

    def changed(self) -> None:
        self.cache.limit = self.value // _PRODUCT_MB
        self.cache.trim()

    async def run(self) -> None:
        await self._fill()

    async def mend(self, verb: str) -> None:
        if verb == FAULT.remedy:
            await self._fill()

    async def _fill(self) -> None:
        """Read all products in one query, so that a cold start is no stampede."""
        from asyncpg import PostgresError

        rows: list[Any] = []
        while not rows:
            with suppress(OSError, PostgresError):
                connection = await self.replica.open_connection()
                rows = await connection.fetch(
                    "SELECT id, price FROM products WHERE id < $1", self.cache.working_set
                )
                await connection.close()
            await asyncio.sleep(0.05)
        for number, price in rows:
            self.cache.get(number)
            self.cache.put(number, str(price).encode())


class Reads(Part):
    """The store serves one request after the other. It has time for all others, and for some reads
    of the cache, but not for all of them."""

    layer = 45

    def __init__(self, replica: Replica, size: SettingPlan) -> None:
        super().__init__(replica, size)
        self.free_at = 0.0
        self.in_a_row = 0
        self.reading: dict[str, int] = {}
        self.last: dict[str, float] = {}

    async def around(self, call: Call, proceed: Proceed) -> Any:
        cold = call.path.startswith("product/")
        # The replicas of the store share one database: with more of them, a read that the cache did
        # not take is no cheaper.
        share = self.replica.count / self.replica.usual_count
        work_s = _COLD_S * share if cold else _WARM_S
        now = monotonic()
        wait = max(0.0, self.free_at - now)
        self.in_a_row = self.in_a_row + 1 if cold else 0
        if cold:
            self.reading[call.path] = self.reading.get(call.path, 0) + 1
        try:
            if wait > _PATIENCE_S:
                raise self._shed(call, now)
            self.free_at = now + wait + work_s
            self.replica.busy_s += work_s
            await asyncio.sleep(wait + work_s)
            return await proceed()
        finally:
            if cold:
                self.last[call.path] = now
                self.reading[call.path] -= 1
                if not self.reading[call.path]:
                    del self.reading[call.path]

    def _shed(self, call: Call, now: float) -> Exception:
        times = self.reading.get(call.path, 0)
        lines = [f"{self.in_a_row} cold reads in a row"] if self.in_a_row > 1 else []
        lines += [f"same key read {times} times at once"] if times > 1 else []
        if now - self.last.get(call.path, -_HOT_S) < _HOT_S:
            lines.append("hot key asked for again")
        line = lines[call.ticket % len(lines)] if lines else "request queue full, shedding load"
        self.replica.log("ERROR", line)
        return self.replica.failed(line)


FAULT = CacheStampede()
