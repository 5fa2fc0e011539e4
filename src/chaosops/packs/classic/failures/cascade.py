"""A database lock-up blocks its callers. A wrong fix makes notifications fail too."""

from chaosops.core.actions import Action, Noop, Resolve, Restart, Rollback
from chaosops.core.vocabulary import Health, Role
from chaosops.packs.classic.failure import Failure
from chaosops.packs.classic.services import ClassicState
from chaosops.packs.classic.symptoms import Strain, Symptoms

_FIX = Restart("db")
_HEAL_VICTIM = Restart("notifications")


class Cascade(Failure):
    wording = "a lock-up that spreads"
    broken = {"db": Health.CRITICAL, "auth": Health.DEGRADED, "payments": Health.DEGRADED}
    fix = _FIX
    symptoms = Symptoms(
        logs={
            "db ERROR": (
                "lock wait timeout exceeded, txn 0x{hex} rolled back",
                "txn 0x{hex} blocks {n} others on table ledger",
            ),
            "db WARN": (
                "connection pool near saturation, {n} clients queueing",
                "{n} clients wait for a connection, more arriving",
                "backlog of {n} connections builds up behind blocked writers",
            ),
            "payments ERROR": (
                "query timed out after {ms}ms",
                "gave up on the ledger write after {ms}ms",
            ),
        },
        alerts={
            "payments page": ("error rate above {pct}%", "{pct}% of checkouts fail"),
            "db page": ("query latency above {ms}ms", "p99 of queries at {ms}ms"),
        },
        strain={
            "db": Strain(44, 980, 46, 1750, 430),
            "auth": Strain(28, 350, 41, 930, 190),
            "payments": Strain(34, 430, 44, 970, 310),
            "notifications": Strain(64, 900, 40, 480, 60, memory_growth_mb=40),
        },
    )

    def helps(self, state: ClassicState, action: Action) -> bool:
        if action == _HEAL_VICTIM:
            return state.health_of("notifications") != Health.HEALTHY
        return action == _FIX

    def strikes_back(self, state: ClassicState, action: Action) -> str | None:
        tips_over = isinstance(action, Restart | Rollback)
        healthy = state.health_of("notifications") == Health.HEALTHY
        return "notifications" if tips_over and healthy else None

    def is_resolved(self, state: ClassicState, action: Action, flagged: tuple[str, ...]) -> bool:
        if action != _FIX and not isinstance(action, Resolve):
            return False
        return state.health_of("db") == state.health_of("notifications") == Health.HEALTHY

    def oracle_remedy(self, state: ClassicState, role: Role, flagged: tuple[str, ...]) -> Action:
        if role is not Role.DEV:
            return Noop()
        hurt = state.health_of("notifications") != Health.HEALTHY
        return _HEAL_VICTIM if hurt else _FIX
