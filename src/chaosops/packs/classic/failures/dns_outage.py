"""Names no longer resolve for auth, and payments cannot reach it."""

from chaosops.core.actions import Restart
from chaosops.core.vocabulary import Health
from chaosops.packs.classic.failure import Failure
from chaosops.packs.classic.symptoms import Strain, Symptoms


class DnsOutage(Failure):
    wording = "unresolved names"
    broken = {"auth": Health.DEGRADED, "payments": Health.DEGRADED}
    fix = Restart("auth")
    symptoms = Symptoms(
        logs={
            "auth ERROR": (
                "lookup of sessions.internal: no answer from the resolver",
                "resolver did not answer for sessions.internal in {ms}ms",
                "cannot resolve sessions.internal (attempt {n})",
            ),
            "payments ERROR": (
                "cannot resolve auth.internal, retrying",
                "host not found: auth.internal ({n} attempts)",
            ),
        },
        alerts={
            "auth warn": ("lookups fail for {pct}% of calls", "upstream calls failing"),
            "payments warn": ("{pct}% of calls to auth fail", "calls to auth failing"),
        },
        strain={"auth": Strain(18, 330, 41, 610, 260), "payments": Strain(21, 400, 44, 540, 240)},
    )
