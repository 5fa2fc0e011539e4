"""Too few replicas are left for the load."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Any

from chaosops.live.faults import Fault, Part, Proceed
from chaosops.live.plan import SettingPlan
from chaosops.live.topology import HEAVY_EVERY, rate_at

if TYPE_CHECKING:
    from chaosops.live.replica import Call, Replica

_PATIENCE_S = 0.5  # how long a request waits for a worker
_SPARE = 0.45  # of a replica, when as few are left as the threshold allows


class CapacityCut(Fault):
    mechanism = "capacity_cut"
    setting = "replicas"
    harmful = -1
    services = ("orders", "mailer")
    usual = 8
    remedy = "scale"
    logs = (
        "request queue full, shedding load",
        "no free worker for {n}ms",
        "saturated: {n} requests waiting",
    )

    def work_s(self, size: SettingPlan) -> float:
        """How long a replica works on one request: the load needs a little less than the fewest
        replicas that the threshold allows. Replicas take turns, so little spare is enough.

        >>> size = SettingPlan("orders", "capacity_cut", "replicas", 8, 30)
        >>> round(CapacityCut().work_s(size), 2)  # at 10.3 a second, 6 replicas can and 5 cannot
        0.54
        """
        fewest = size.usual - size.usual * size.threshold_pct // 100
        return (fewest - _SPARE) / (rate_at(size.service) * (1 - 1 / HEAVY_EVERY))

    def base_ms(self, size: SettingPlan) -> float:
        return 1000 * self.work_s(size)

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        return Worker(replica, size, self.work_s(size))


class Worker(Part):
    """A replica works on one request at a time, the others wait in its queue. Heavy requests have
    a worker of their own: they come late and together, and would hold up the others."""

    layer = 30

    def __init__(self, replica: Replica, size: SettingPlan, work_s: float) -> None:
        super().__init__(replica, size)
        self.work_s = work_s
        self.free_at = 0.0
        replica.work_s = 0.0  # this is its work

    async def around(self, call: Call, proceed: Proceed) -> Any:
        if call.heavy:
            return await proceed()
        now = monotonic()
        wait = max(0.0, self.free_at - now)
        if wait > _PATIENCE_S:
            raise self._shed(call, wait)
        self.free_at = now + wait + self.work_s
        self.replica.busy_s += self.work_s
        await asyncio.sleep(wait + self.work_s)
        return await proceed()

    def _shed(self, call: Call, wait: float) -> Exception:
        waiting = 1 + int(wait / self.work_s)
        lines = (
            "request queue full, shedding load",
            f"no free worker for {1000 * wait:.0f}ms",
            f"saturated: {waiting} requests waiting",
        )
        line = lines[call.ticket % 3]
        self.replica.log("ERROR", line)
        return self.replica.failed(line)


FAULT = CapacityCut()
