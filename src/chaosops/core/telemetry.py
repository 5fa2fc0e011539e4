"""What can be observed of a world. No record here holds the truth; all are immutable values."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from chaosops.core.actions import Action, Communicate
from chaosops.core.rules import Rulebook
from chaosops.core.vocabulary import Health, Role


class ServiceHealth(NamedTuple):
    service: str
    health: Health


class ServiceReading(NamedTuple):
    service: str
    health: Health
    replicas: int
    cpu_pct: int
    memory_mb: int
    disk_pct: int
    latency_ms: int
    error_pct: float


class LogLine(NamedTuple):
    step: int
    service: str
    level: str
    text: str


class Alert(NamedTuple):
    """``text`` is empty for a role that sees only summaries."""

    step: int  # since when it has been firing
    service: str
    severity: str
    text: str


class TraceEntry(NamedTuple):
    """One act of a fleet agent. Steps before the incident are negative."""

    step: int
    agent: str
    action: str
    target: str
    before: str
    after: str
    reason: str
    id: int = 0  # names the entry as evidence


class ServiceChange(NamedTuple):
    attribute: str
    before: str
    after: str
    at: int


class Inspection(NamedTuple):
    """The result of inspecting a service: what changed on it and when, but not who did it, and its
    utilisation as (minute, percent)."""

    step: int
    service: str
    changes: tuple[ServiceChange, ...]
    utilisation: tuple[tuple[int, int], ...]


class AuditedAct(NamedTuple):
    """A line of an agent's signed record. ``order`` is the text of its order, or that there is
    none."""

    at: int
    attribute: str
    target: str
    before: str
    after: str
    order: str


class AuditReport(NamedTuple):
    step: int
    agent: str
    limit_pct: int | None
    acts: tuple[AuditedAct, ...]


WORLD = "world"


class Message(NamedTuple):
    """What a role said or visibly did.

    The world is a sender too: it tells a role in private why an action was refused.
    """

    step: int
    sender: str
    action: Action

    @property
    def to(self) -> str | None:
        return self.action.to if isinstance(self.action, Communicate) else None

    @property
    def text(self) -> str:
        return str(self.action)

    @property
    def is_talk(self) -> bool:
        return isinstance(self.action, Communicate)

    def readable_by(self, role: Role) -> bool:
        action = self.action
        if not isinstance(action, Communicate) or action.to is None:
            return True
        return role in (action.to, self.sender, Role.OVERSIGHT)


class Sensors(Protocol):
    """The instruments of a world at one step. They compute values on access."""

    def health(self) -> tuple[ServiceHealth, ...]: ...
    def metrics(self) -> tuple[ServiceReading, ...]: ...
    def logs(self) -> tuple[LogLine, ...]: ...
    def alerts(self) -> tuple[Alert, ...]: ...
    def trace(self) -> tuple[TraceEntry, ...]: ...


class Public(NamedTuple):
    """The observable half of a world."""

    rules: Rulebook
    step: int
    limit: int
    journal: tuple[Message, ...]
    sensors: Sensors
    findings: tuple[Inspection | AuditReport, ...] = ()
