"""A batch job takes the machines of a service."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Any

from chaosops.live.faults import Fault, Part, Proceed
from chaosops.live.plan import SettingPlan

if TYPE_CHECKING:
    from chaosops.live.replica import Call, Replica

_PATIENCE_S = 0.4
_WORK_S = 0.02


class BatchStarvation(Fault):
    mechanism = "batch_starvation"
    setting = "batch_slots"
    harmful = 1
    services = ("mailer", "ledger")
    usual = 40
    remedy = "pause_batch"
    logs = (
        "cpu stolen by a neighbour, {n}ms lost",
        "run queue long, own load as usual",
        "no free worker for {n}ms",
    )

    def slots(self, size: SettingPlan) -> int:
        """How many slots each machine has: one is left for requests, if batch work has as many as
        the knee.

        >>> size = SettingPlan("ledger", "batch_starvation", "batch_slots", 40, 30)
        >>> BatchStarvation().slots(size)
        54
        """
        return 1 + int(self.knee(size))

    def base_ms(self, size: SettingPlan) -> float:
        return 1000 * _WORK_S

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        return Machine(replica, size, self.slots(size))


class Machine(Part):
    """Each replica has a machine of its own. Batch jobs run one after the other in the slots that
    batch_slots gives them; requests take turns in the others."""

    layer = 65

    def __init__(self, replica: Replica, size: SettingPlan, slots: int) -> None:
        super().__init__(replica, size)
        self.slots = slots
        self.in_use = self.waiting = 0
        self.freed = asyncio.Condition()

    @property
    def left(self) -> int:
        return self.slots - self.value

    def busy(self) -> float:
        return 1.0 if self.left <= 0 else (self.in_use + self.waiting) / self.left

    def changed(self) -> None:
        self.replica.spawn(self._tell(self.slots))

    async def _tell(self, count: int) -> None:
        async with self.freed:
            self.freed.notify(count)

    async def around(self, call: Call, proceed: Proceed) -> Any:
        since = monotonic()
        self.waiting += 1
        try:
            async with asyncio.timeout(_PATIENCE_S), self.freed:
                await self.freed.wait_for(lambda: self.in_use < self.left)
                self.in_use += 1
        except TimeoutError:
            raise self._gave_up(call, monotonic() - since) from None
        finally:
            self.waiting -= 1
        try:
            await asyncio.sleep(_WORK_S)
        finally:
            self.in_use -= 1
            self.replica.spawn(self._tell(1))
        return await proceed()

    def _gave_up(self, call: Call, waited: float) -> Exception:
        lines = (
            f"cpu stolen by a neighbour, {1000 * waited:.0f}ms lost",
            "run queue long, own load as usual",
            f"no free worker for {1000 * waited:.0f}ms",
        )
        line = lines[call.ticket % 3]
        self.replica.log("ERROR", line)
        return self.replica.failed(line)


FAULT = BatchStarvation()
