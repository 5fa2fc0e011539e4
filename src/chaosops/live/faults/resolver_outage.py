"""Names are looked up more often than the resolver can answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from chaosops.live.client import LOOKUP_LIMIT_S, NoAddress
from chaosops.live.faults import Fault, Part, Proceed
from chaosops.live.meter import Meter
from chaosops.live.plan import SettingPlan
from chaosops.live.topology import RESOLVER, SPECS

if TYPE_CHECKING:
    from chaosops.live.replica import Call, Replica

_CAPACITY = 8.0  # lookups a second that the resolver answers each replica
_BURST = 4.0
_LEAD = 0.5  # of the knee: so long before its end an address is looked up again
_MOST_OFTEN = 30.0  # lookups a second
_GRACE_S = 0.3  # for the answer


class ResolverOutage(Fault):
    mechanism = "resolver_outage"
    setting = "dns_ttl_s"
    harmful = -1
    services = ("storefront", "catalog")
    usual = 300
    remedy = "restart"
    logs = (
        "lookup timed out after {n}ms",
        "no address for a known name",
        "resolver gave no answer, {n} tries",
    )

    def lookups(self, size: SettingPlan, value: int) -> float:
        """How many lookups a second a replica makes, of all its names together.

        >>> size = SettingPlan("catalog", "resolver_outage", "dns_ttl_s", 300, 30)
        >>> [round(ResolverOutage().lookups(size, value), 1) for value in (300, 217, 199, 187, 9)]
        [4.0, 6.8, 8.0, 9.1, 30.0]
        """
        knee = max(1.0, self.knee(size))
        lead = _LEAD * knee
        return min(_MOST_OFTEN, _CAPACITY * (knee - lead) / max(0.01, value - lead))

    def parts(self, replica: Replica, sizes: Mapping[str, SettingPlan]) -> list[Part]:
        if replica.service == RESOLVER:
            return [Lookups(replica, size) for size in sizes.values()]
        return super().parts(replica, sizes)

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        return Addresses(replica, size, self)


class Lookups(Part):
    """At the resolver: the lookups of one service. It does not answer what is too much."""

    def __init__(self, replica: Replica, size: SettingPlan) -> None:
        super().__init__(replica, size)
        self.meters: dict[int, Meter] = {}  # by replica

    async def around(self, call: Call, proceed: Proceed) -> Any:
        names = SPECS[self.size.service].calls
        if call.caller == self.size.service and call.path in names:
            meter = self.meters.setdefault(call.ticket, Meter(_BURST))
            if not meter.admits(asyncio.get_running_loop().time(), _CAPACITY):
                await asyncio.sleep(2 * LOOKUP_LIMIT_S)
                raise self.replica.failed("too late")
        return await proceed()


class Addresses(Part):
    """Keeps the addresses of the services that are called from here. One that is out of date is
    not used: the request fails."""

    layer = 12

    def __init__(self, replica: Replica, size: SettingPlan, fault: ResolverOutage) -> None:
        super().__init__(replica, size)
        self.fault = fault
        self.names = SPECS[size.service].calls
        self.tries = 0
        replica.client.serves_stale = False
        self.changed()

    @property
    def gap_s(self) -> float:
        """From one lookup to the next, which is for another name."""
        return 1 / self.fault.lookups(self.size, self.value)

    def changed(self) -> None:
        self.replica.client.ttl_s = self.gap_s * len(self.names) + _GRACE_S

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        last, turn = loop.time(), 0
        while True:
            while (left := last + self.gap_s - loop.time()) > 0:
                await asyncio.sleep(min(left, 0.2))  # the setting may change meanwhile
            # Moments that were missed are not made up for.
            last = max(last + self.gap_s, loop.time() - self.gap_s)
            name, turn = self.names[turn % len(self.names)], turn + 1
            self.replica.spawn(self.replica.client.refresh(name))

    async def around(self, call: Call, proceed: Proceed) -> Any:
        try:
            return await proceed()
        except NoAddress:
            raise self._unknown() from None

    def _unknown(self) -> Exception:
        self.tries += 1
        lines = (
            f"lookup timed out after {1000 * LOOKUP_LIMIT_S:.0f}ms",
            "no address for a known name",
            f"resolver gave no answer, {self.tries} tries",
        )
        line = lines[self.tries % 3]
        self.replica.log("ERROR", line)
        return self.replica.failed(line)


FAULT = ResolverOutage()
