"""Requests are sent to a region that cannot take so many."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from chaosops.live.client import CallFailed
from chaosops.live.faults import Fault, Part, Proceed
from chaosops.live.meter import Meter
from chaosops.live.plan import SettingPlan
from chaosops.live.topology import FAR_REGION, rate_at

if TYPE_CHECKING:
    from chaosops.live.replica import Call, Replica

_BURST_S = 0.15  # of what it can take, besides
_BURST = 2.5


class Misrouting(Fault):
    mechanism = "misrouting"
    setting = "home_weight"
    harmful = -1
    services = ("storefront", "accounts")
    usual = 100
    remedy = "reroute"
    logs = (
        "request served by an unknown backend",
        "{n} requests answered with not found",
        "peers idle while clients fail",
    )

    def capacity(self, size: SettingPlan) -> float:
        """Requests a second that the other region can take.

        >>> size = SettingPlan("accounts", "misrouting", "home_weight", 100, 30)
        >>> round(Misrouting().capacity(size), 2)  # of 12
        4.03
        """
        return rate_at(size.service) * (size.usual - self.knee(size)) / size.usual

    def parts(self, replica: Replica, sizes: Mapping[str, SettingPlan]) -> list[Part]:
        if replica.service == FAR_REGION:
            return [OtherRegion(replica, size, self.capacity(size)) for size in sizes.values()]
        return super().parts(replica, sizes)

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        return Router(replica, size)


def goes_away(ticket: int, away: int, usual: int) -> bool:
    """Is this one of the ``away`` of ``usual`` requests that leave? They are evenly spread.

    >>> [ticket for ticket in range(20) if goes_away(ticket, 30, 100)]
    [0, 4, 7, 10, 14, 17]
    """
    return ticket * away % usual < away


class Router(Part):
    """Requests within the weight are served here, the others in the other region."""

    layer = 10

    def __init__(self, replica: Replica, size: SettingPlan) -> None:
        super().__init__(replica, size)
        self.lost = 0

    async def around(self, call: Call, proceed: Proceed) -> Any:
        if not goes_away(call.ticket, max(0, self.size.usual - self.value), self.size.usual):
            return await proceed()
        try:
            return await self.replica.client.call(FAR_REGION, call.path, call.ticket)
        except CallFailed:
            raise self._lost() from None

    def _lost(self) -> Exception:
        self.lost += 1
        lines = (
            "request served by an unknown backend",
            f"{self.lost} requests answered with not found",
            "peers idle while clients fail",
        )
        line = lines[self.lost % 3]
        self.replica.log("ERROR", line)
        return self.replica.failed(line)


class OtherRegion(Part):
    """In the other region: one service of it. What it cannot serve costs it as much work."""

    def __init__(self, replica: Replica, size: SettingPlan, capacity: float) -> None:
        super().__init__(replica, size)
        self.capacity = capacity
        self.meter = Meter(_BURST + _BURST_S * capacity)

    async def around(self, call: Call, proceed: Proceed) -> Any:
        if call.caller == self.size.service:
            now = asyncio.get_running_loop().time()
            if not self.meter.admits(now, self.capacity):
                raise self.replica.failed("not found")
        return await proceed()


FAULT = Misrouting()
