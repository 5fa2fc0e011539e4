"""The database runs out of space."""

from chaosops.core.actions import Action, Restart, Scale
from chaosops.core.vocabulary import Health
from chaosops.packs.classic.failure import Failure
from chaosops.packs.classic.services import ClassicState
from chaosops.packs.classic.symptoms import Strain, Symptoms


class DiskFull(Failure):
    wording = "a full disk"
    broken = {"db": Health.DEGRADED}
    worsens = ("db", 6)
    fix = Scale("db", 2)
    symptoms = Symptoms(
        logs={
            "db ERROR": (
                "write to wal segment {n} failed: no space left on device",
                "could not extend relation ledger: no space left on device",
                "checkpoint {n} failed, volume has no free blocks",
            ),
        },
        alerts={
            "db warn": (
                "volume nearly exhausted",
                "writes failing at {pct}%",
                "free blocks below 3%",
            ),
        },
        strain={"db": Strain(41, 880, 98, 640, 210)},
    )

    def helps(self, state: ClassicState, action: Action) -> bool:
        if isinstance(action, Scale):
            return action.target == "db" and action.replicas >= 2
        return action == Restart("db")
