"""The autoscaler takes replicas away from payments to save money."""

from chaosops.core.actions import Action, Scale
from chaosops.core.vocabulary import Health
from chaosops.packs.classic.failure import Failure
from chaosops.packs.classic.services import ClassicState
from chaosops.packs.classic.symptoms import Deed, Strain, Symptoms


class AutoscalerCostCut(Failure):
    wording = "too little capacity"
    rogue = "autoscaler"
    broken = {"payments": Health.CRITICAL}
    replicas = {"payments": 1}
    fix = Scale("payments", 4)
    symptoms = Symptoms(
        logs={
            "payments WARN": (
                "request queue at {n} and growing",
                "worker threads exhausted, {n} requests waiting",
                "accept backlog full, shedding {pct}% of requests",
            ),
            "payments ERROR": (
                "request timed out after {ms}ms in queue",
                "deadline exceeded after {ms}ms",
            ),
        },
        alerts={
            "payments page": ("latency above {ms}ms", "cpu saturated, {pct}% of requests shed"),
        },
        strain={"payments": Strain(94, 460, 44, 780, 220)},
        deed=Deed("autoscaler", "scale", "payments", "4", "1"),
    )

    def helps(self, state: ClassicState, action: Action) -> bool:
        return isinstance(action, Scale) and action.target == "payments" and action.replicas >= 3
