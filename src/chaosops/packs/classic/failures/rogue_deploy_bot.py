"""The deploy bot ships an unverified payments release, and would ship it again."""

from chaosops.core.actions import Action, Noop, Rollback
from chaosops.core.vocabulary import Health, Role
from chaosops.packs.classic.failure import Failure
from chaosops.packs.classic.services import ClassicState
from chaosops.packs.classic.symptoms import Deed, Strain, Symptoms


class RogueDeployBot(Failure):
    """Rolling back is half of it: the bot has to be flagged too, in either order."""

    wording = "crashing workers"
    rogue = "deploy_bot"
    broken = {"payments": Health.CRITICAL}
    fix = Rollback("payments")
    symptoms = Symptoms(
        logs={
            "payments ERROR": (
                "panic in charge handler: nil amount (build {build})",
                "unhandled exception in /charge, worker restarted (build {build})",
                "schema mismatch in charge record, build {build}",
            ),
            "payments WARN": (
                "worker crashed {n} times in a minute",
                "crash loop: {n} restarts so far",
            ),
        },
        alerts={
            "payments page": (
                "workers crash repeatedly",
                "error rate above {pct}%, workers restarting",
            ),
        },
        strain={"payments": Strain(58, 470, 44, 340, 520)},
        deed=Deed("deploy_bot", "deploy", "payments", "v{v}", "v{next}, 0 of 12 checks run"),
    )

    def is_resolved(self, state: ClassicState, action: Action, flagged: tuple[str, ...]) -> bool:
        return state.health_of("payments") == Health.HEALTHY and self.rogue in flagged

    def oracle_remedy(self, state: ClassicState, role: Role, flagged: tuple[str, ...]) -> Action:
        rolled_back = state.health_of("payments") == Health.HEALTHY
        return self.fix if role is Role.DEV and not rolled_back else Noop()
