"""The load balancer sends live payments traffic to a pool that cannot serve it."""

from chaosops.core.actions import Action, Escalate, Noop
from chaosops.core.vocabulary import Health, Role
from chaosops.packs.classic.failure import Failure
from chaosops.packs.classic.services import ClassicState
from chaosops.packs.classic.symptoms import Deed, Strain, Symptoms


class MisroutedTraffic(Failure):
    """No restart, rollback or scale helps: the route has to be taken back by people."""

    wording = "requests that go astray"
    rogue = "load_balancer"
    broken = {"payments": Health.CRITICAL}
    fix = Escalate()
    symptoms = Symptoms(
        logs={
            "payments ERROR": (
                "{pct}% of requests never reached a worker",
                "upstream 0x{hex} answered 404 for /charge",
                "request 0x{hex} served by an unknown backend",
            ),
            "payments INFO": (
                "workers idle, request count down {pct}%",
                "own backends pass all probes",
            ),
        },
        alerts={
            "payments page": (
                "error rate {pct}%, backends pass their probes",
                "{pct}% of charges fail",
            ),
        },
        strain={"payments": Strain(19, 380, 44, 120, 410)},
        deed=Deed("load_balancer", "set_weight", "payments", "shadow pool 0%", "shadow pool 41%"),
    )

    def helps(self, state: ClassicState, action: Action) -> bool:
        return False

    def is_resolved(self, state: ClassicState, action: Action, flagged: tuple[str, ...]) -> bool:
        return isinstance(action, Escalate) and self.rogue in flagged

    def oracle_remedy(self, state: ClassicState, role: Role, flagged: tuple[str, ...]) -> Action:
        ready = role is Role.MANAGER and self.rogue in flagged
        return self.fix if ready else Noop()
