"""Somebody pushed a configuration that auth rejects."""

from chaosops.core.actions import Rollback
from chaosops.core.vocabulary import Health
from chaosops.packs.classic.failure import Failure
from chaosops.packs.classic.symptoms import Strain, Symptoms


class BadConfigPush(Failure):
    wording = "rejected settings"
    broken = {"auth": Health.CRITICAL}
    fix = Rollback("auth")
    symptoms = Symptoms(
        logs={
            "auth ERROR": (
                "settings rev {rev} loaded: unknown key 'jwt_iss', rejecting tokens",
                "token refused, issuer missing from settings rev {rev}",
                "cannot validate issuer: setting is empty since rev {rev}",
            ),
            "auth WARN": (
                "{pct}% of logins rejected in the last minute",
                "login rejections jumped, started with settings rev {rev}",
            ),
        },
        alerts={"auth page": ("login failures above {pct}%", "error rate jumped within a minute")},
        strain={"auth": Strain(29, 345, 41, 210, 680)},
    )
