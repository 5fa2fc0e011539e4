"""A deadline that is shorter than the work."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from chaosops.live.faults import Fault, Part, Proceed
from chaosops.live.plan import SettingPlan
from chaosops.live.topology import HEAVY_EVERY

if TYPE_CHECKING:
    from chaosops.live.replica import Call, Replica


class BadConfig(Fault):
    mechanism = "bad_config"
    setting = "timeout_ms"
    harmful = -1
    services = ("storefront", "orders", "catalog", "accounts")
    usual = 2000
    remedy = "rollback"
    logs = (
        "call aborted by deadline after {n}ms",
        "setting rejected valid requests",
        "deadline shorter than the work: {n} aborted",
    )

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        return Deadline(replica, size, self.knee(size) / 1000)


class Deadline(Part):
    """Heavy requests end with a report that takes as long as the knee. The deadline is for it."""

    layer = 20

    def __init__(self, replica: Replica, size: SettingPlan, report_s: float) -> None:
        super().__init__(replica, size)
        self.report_s = report_s
        self.aborted = 0

    async def around(self, call: Call, proceed: Proceed) -> Any:
        answer = await proceed()
        if call.heavy:
            try:
                async with asyncio.timeout(self.value / 1000):
                    await asyncio.sleep(self.report_s)
            except TimeoutError:
                self._abort(call)
        return answer

    def _abort(self, call: Call) -> None:
        self.aborted += 1
        lines = (
            f"call aborted by deadline after {self.value}ms",
            "setting rejected valid requests",
            f"deadline shorter than the work: {self.aborted} aborted",
        )
        line = lines[call.ticket // HEAVY_EVERY % 3]
        self.replica.log("ERROR", line)
        raise self.replica.failed(line)


FAULT = BadConfig()
