"""Transactions wait on each other in the database; its callers time out."""

from chaosops.core.actions import Restart
from chaosops.core.vocabulary import Health
from chaosops.packs.classic.failure import Failure
from chaosops.packs.classic.symptoms import Strain, Symptoms


class DbDeadlock(Failure):
    wording = "blocked transactions"
    broken = {"db": Health.CRITICAL, "auth": Health.DEGRADED, "payments": Health.DEGRADED}
    fix = Restart("db")
    symptoms = Symptoms(
        logs={
            "db ERROR": (
                "lock wait timeout exceeded, txn 0x{hex} rolled back",
                "txn 0x{hex} and {n} others wait on each other's row locks",
                "no progress on txn 0x{hex}: circular wait on table ledger",
            ),
            "payments ERROR": (
                "query timed out after {ms}ms",
                "gave up on the ledger write after {ms}ms",
                "{n} requests stuck waiting for the ledger",
            ),
        },
        alerts={
            "payments page": (
                "error rate above {pct}%",
                "{pct}% of checkouts fail",
                "checkout errors at {pct}%",
            ),
            "db page": ("query latency above {ms}ms", "p99 of queries at {ms}ms"),
        },
        strain={
            "db": Strain(38, 900, 46, 1800, 450),
            "auth": Strain(27, 350, 41, 950, 180),
            "payments": Strain(33, 420, 44, 980, 320),
        },
    )
