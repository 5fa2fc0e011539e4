"""Clients that try again make it worse."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from chaosops.live.faults import Fault, Part, Proceed
from chaosops.live.plan import SettingPlan
from chaosops.live.topology import HEAVY_EVERY, SPECS

if TYPE_CHECKING:
    from chaosops.live.replica import Call, Replica

_SLOW_S = 0.35  # how long a heavy request waits for its turn; clients grow impatient before
_REMEMBERED = 64
_REPEATED = b"repeated"


class RetryStorm(Fault):
    mechanism = "retry_storm"
    setting = "retry_pct"
    harmful = 1
    services = ("orders", "receipts", "outbox")
    usual = 10
    remedy = "throttle"
    logs = (
        "duplicate of a request seen {n} times",
        "same call repeated by its client",
        "request queue full, shedding load",
    )

    def parts(self, replica: Replica, sizes: Mapping[str, SettingPlan]) -> list[Part]:
        spec = SPECS.get(replica.service)
        calls = spec.calls if spec is not None else ()
        found: list[Part] = [Repeats(replica, sizes[name]) for name in calls if name in sizes]
        return found + super().parts(replica, sizes)

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        return Waiting(replica, size, int(self.knee(size)))


class Repeats(Part):
    """In a client: a call that is not answered soon is repeated. What clients may repeat in a
    hundred calls, they spend on each heavy call."""

    def __init__(self, replica: Replica, size: SettingPlan) -> None:
        super().__init__(replica, size)
        replica.client.repeats[size.service] = lambda: self.value


class Queue:
    def __init__(self) -> None:
        self.repeats = 0
        self.ended = asyncio.Event()
        self.dropped = False


class Waiting(Part):
    """Heavy requests wait for their turn, and so do the repeats of them that arrive meanwhile. A
    queue of more repeats than the knee overflows: it is dropped, with the request itself."""

    layer = 5

    def __init__(self, replica: Replica, size: SettingPlan, places: int) -> None:
        super().__init__(replica, size)
        self.places = places
        self.queues: dict[tuple[str, int], Queue] = {}
        self.known: dict[tuple[str, int], None] = {}

    async def around(self, call: Call, proceed: Proceed) -> Any:
        if not call.heavy:
            return await proceed()
        key = call.path, call.ticket
        if key in self.known:
            return await self._repeat(call, self.queues.get(key))
        self._remember(key)
        queue = self.queues[key] = Queue()
        try:
            async with asyncio.timeout(_SLOW_S):
                await queue.ended.wait()
        except TimeoutError:
            queue.ended.set()
        finally:
            del self.queues[key]
        if queue.dropped:
            raise self.replica.failed("request queue full, shedding load")
        return await proceed()

    def _remember(self, key: tuple[str, int]) -> None:
        self.known[key] = None
        if len(self.known) > _REMEMBERED:
            del self.known[next(iter(self.known))]

    async def _repeat(self, call: Call, queue: Queue | None) -> bytes:
        """No request is done twice."""
        if queue is None:
            return _REPEATED
        queue.repeats += 1
        if queue.repeats > self.places:
            self._overflow(call, queue)
        await queue.ended.wait()
        if queue.dropped:
            raise self.replica.failed("request queue full, shedding load")
        return _REPEATED

    def _overflow(self, call: Call, queue: Queue) -> None:
        lines = (
            f"duplicate of a request seen {queue.repeats} times",
            "same call repeated by its client",
            "request queue full, shedding load",
        )
        if not queue.dropped:
            self.replica.log("ERROR", lines[call.ticket // HEAVY_EVERY % 3])
        queue.dropped = True
        queue.ended.set()


FAULT = RetryStorm()
