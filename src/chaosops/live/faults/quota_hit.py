"""The allowance at a provider is smaller than the demand."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from chaosops.live.client import CallFailed
from chaosops.live.faults import Fault, Part, Proceed
from chaosops.live.meter import Meter
from chaosops.live.plan import SettingPlan
from chaosops.live.topology import BUY, PROVIDER, RATES

if TYPE_CHECKING:
    from chaosops.live.replica import Call, Replica

_DEMAND = RATES[BUY]  # calls a second: one mail for each purchase, one check of each purchase
_OTHERS = 0.6  # of the demand at the knee: what offices elsewhere use of the same allowance
_BURST = 5.0


class QuotaHit(Fault):
    mechanism = "quota_hit"
    setting = "quota_rps"
    harmful = -1
    services = ("mailer", "storefront")
    usual = 1000
    remedy = "escalate"
    logs = (
        "refused by provider: allowance used",
        "too many requests, {n} refused",
        "limit reached, try later",
    )

    def allowed(self, size: SettingPlan, value: int) -> float:
        """Calls a second that are left for the service. The calls of others come first.

        >>> size = SettingPlan("mailer", "quota_hit", "quota_rps", 1000, 30)
        >>> [round(QuotaHit().allowed(size, value), 1) for value in (1000, 724, 664, 625, 300)]
        [27.2, 14.7, 12.0, 10.2, 0.0]
        """
        knee = max(1.0, self.knee(size))
        others = _OTHERS * knee
        return max(0.0, _DEMAND * (value - others) / (knee - others))

    def parts(self, replica: Replica, sizes: Mapping[str, SettingPlan]) -> list[Part]:
        if replica.service == PROVIDER:
            return [Allowance(replica, size, self) for size in sizes.values()]
        return super().parts(replica, sizes)

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        return Customer(replica, size)


class Allowance(Part):
    """At the provider: what it serves of the calls of one service."""

    def __init__(self, replica: Replica, size: SettingPlan, fault: QuotaHit) -> None:
        super().__init__(replica, size)
        self.fault = fault
        self.meter = Meter(_BURST)

    async def around(self, call: Call, proceed: Proceed) -> Any:
        if call.caller == self.size.service:
            rate = self.fault.allowed(self.size, self.value)
            if not self.meter.admits(asyncio.get_running_loop().time(), rate):
                raise self.replica.failed("allowance used")
        return await proceed()


class Customer(Part):
    """The mailer hands each mail to the provider. The storefront has each purchase checked."""

    layer = 40

    def __init__(self, replica: Replica, size: SettingPlan) -> None:
        super().__init__(replica, size)
        self.refused = 0

    async def around(self, call: Call, proceed: Proceed) -> Any:
        try:
            if call.path == BUY:
                await self.replica.client.call(PROVIDER, "check", call.ticket)
            return await proceed()
        except CallFailed as error:
            if error.service != PROVIDER:
                raise
            raise self._refused() from None

    def _refused(self) -> Exception:
        self.refused += 1
        lines = (
            "refused by provider: allowance used",
            f"too many requests, {self.refused} refused",
            "limit reached, try later",
        )
        line = lines[self.refused % 3]
        self.replica.log("ERROR", line)
        return self.replica.failed(line)


FAULT = QuotaHit()
