"""The notifications heap grows without bound."""

from chaosops.core.actions import Restart
from chaosops.core.vocabulary import Health
from chaosops.packs.classic.failure import Failure
from chaosops.packs.classic.symptoms import Strain, Symptoms


class MemoryLeak(Failure):
    wording = "a memory leak"
    broken = {"notifications": Health.DEGRADED}
    worsens = ("notifications", 5)
    fix = Restart("notifications")
    symptoms = Symptoms(
        logs={
            "notifications WARN": (
                "gc pause {ms}ms, heap still growing",
                "heap grew again after full gc ({n}MB in the last minute)",
                "allocation rate fine, live set is not: gc pause {ms}ms",
            ),
        },
        alerts={
            "notifications warn": (
                "memory pressure",
                "heap above its soft limit",
                "resident memory keeps rising",
            ),
        },
        strain={"notifications": Strain(71, 1200, 40, 420, 35, memory_growth_mb=180)},
    )
