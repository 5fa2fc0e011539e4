"""Names no longer resolve for auth, and payments cannot reach it."""

from chaosops.core.actions import Restart
from chaosops.core.vocabulary import Health
from chaosops.packs.classic.failure import Failure
from chaosops.packs.classic.symptoms import Line, Strain, Symptoms


class DnsOutage(Failure):
    id = "dns_outage"
    broken = {"auth": Health.DEGRADED, "payments": Health.DEGRADED}
    fix = Restart("auth")
    symptoms = Symptoms(
        logs=(
            Line(
                "auth",
                "ERROR",
                (
                    "lookup of sessions.internal: no answer from the resolver",
                    "resolver did not answer for sessions.internal in {ms}ms",
                    "cannot resolve sessions.internal (attempt {n})",
                ),
            ),
            Line(
                "payments",
                "ERROR",
                (
                    "cannot resolve auth.internal, retrying",
                    "host not found: auth.internal ({n} attempts)",
                ),
            ),
        ),
        alerts=(
            Line("auth", "warn", ("lookups fail for {pct}% of calls", "upstream calls failing")),
            Line("payments", "warn", ("{pct}% of calls to auth fail", "calls to auth failing")),
        ),
        strain={
            "auth": Strain(18, 330, 41, 610, 260),
            "payments": Strain(21, 400, 44, 540, 240),
        },
    )


FAILURE = DnsOutage()
