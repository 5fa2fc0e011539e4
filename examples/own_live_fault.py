"""A fault of your own for the live company: answers that are larger than a limit are refused.

python -m chaosops.live.lifecycle --fault examples/own_live_fault.py
"""

from __future__ import annotations

from typing import Any

from chaosops.live.faults import Fault, Part, Proceed
from chaosops.live.plan import SettingPlan
from chaosops.live.replica import Call, Replica


class AnswerLimit(Fault):
    mechanism = "answer_limit"
    setting = "answer_kb"
    harmful = -1  # a smaller limit does damage
    services = ("catalog",)
    usual = 500
    remedy = "rollback"
    logs = ("answer of {n}kB refused by the limit",)

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        # The largest answers are as large as the knee: everything within the threshold lets them
        # pass, and what is clearly beyond it does not.
        return Limit(replica, size, round(self.knee(size)))


class Limit(Part):
    layer = 25

    def __init__(self, replica: Replica, size: SettingPlan, largest_kb: int) -> None:
        super().__init__(replica, size)
        self.largest_kb = largest_kb

    async def around(self, call: Call, proceed: Proceed) -> Any:
        answer = await proceed()
        if call.heavy and self.largest_kb > self.value:
            line = f"answer of {self.largest_kb}kB refused by the limit"
            self.replica.log("ERROR", line)
            raise self.replica.failed(line)
        return answer


FAULT = AnswerLimit()
