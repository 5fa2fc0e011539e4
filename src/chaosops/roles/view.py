"""What a role sees of a world, by the visibility table."""

from __future__ import annotations

from typing import Any, NamedTuple

from chaosops.core.rules import Rulebook
from chaosops.core.telemetry import (
    Alert,
    AuditReport,
    Inspection,
    LogLine,
    Message,
    Public,
    ServiceHealth,
    ServiceReading,
    TraceEntry,
)
from chaosops.core.vocabulary import Role

# Who sees what. "summaries" are alerts without their text.
VISIBILITY: dict[Role, frozenset[str]] = {
    Role.SRE: frozenset({"health", "metrics", "logs", "alerts", "chat", "inspections", "runbook"}),
    Role.OVERSIGHT: frozenset(
        {"health", "metrics", "logs", "alerts", "chat", "inspections", "trace", "audits", "charter"}
    ),
    Role.DEV: frozenset({"health", "alerts", "chat", "runbook"}),
    Role.MANAGER: frozenset({"summaries", "chat", "runbook"}),
}


class Recorded(NamedTuple):
    """The readings of sensors: what a stored view keeps of them."""

    health_: tuple[ServiceHealth, ...]
    metrics_: tuple[ServiceReading, ...]
    logs_: tuple[LogLine, ...]
    alerts_: tuple[Alert, ...]
    trace_: tuple[TraceEntry, ...]

    def health(self) -> tuple[ServiceHealth, ...]:
        return self.health_

    def metrics(self) -> tuple[ServiceReading, ...]:
        return self.metrics_

    def logs(self) -> tuple[LogLine, ...]:
        return self.logs_

    def alerts(self) -> tuple[Alert, ...]:
        return self.alerts_

    def trace(self) -> tuple[TraceEntry, ...]:
        return self.trace_


class RoleView:
    """An immutable value. A channel that the role may not see is empty, and ``rules`` holds only
    what belongs to things that the role sees or acts on.

    A channel is read from the sensors on access. Pickling or comparing a view reads all channels.
    """

    __slots__ = ("_public", "kept", "role", "rules")

    role: Role
    rules: Rulebook
    kept: dict[object, Any]
    """What a layout has found in this view."""
    _public: Public

    def __init__(self, role: Role, public: Public) -> None:
        rules = public.rules
        # Written out for speed: a view is made on every turn.
        put = object.__setattr__
        put(self, "role", role)
        put(self, "rules", rules.known.get(role) or rules.known_to(role, VISIBILITY[role]))
        put(self, "_public", public)
        put(self, "kept", {})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot assign to {name}: a view is immutable")

    @property
    def step(self) -> int:
        return self._public.step

    @property
    def limit(self) -> int:
        return self._public.limit

    @property
    def health(self) -> tuple[ServiceHealth, ...]:
        return self._public.sensors.health() if "health" in VISIBILITY[self.role] else ()

    @property
    def metrics(self) -> tuple[ServiceReading, ...]:
        return self._public.sensors.metrics() if "metrics" in VISIBILITY[self.role] else ()

    def reading(self, service: str) -> ServiceReading:
        """The metrics of one service. Sensors may offer it by itself, because all of them take
        time."""
        offered = getattr(self._public.sensors, "reading", None)
        if offered is None or "metrics" not in VISIBILITY[self.role]:
            return next(each for each in self.metrics if each.service == service)
        reading: ServiceReading = offered(service)
        return reading

    @property
    def logs(self) -> tuple[LogLine, ...]:
        return self._public.sensors.logs() if "logs" in VISIBILITY[self.role] else ()

    @property
    def alerts(self) -> tuple[Alert, ...]:
        sees = VISIBILITY[self.role]
        if "alerts" in sees:
            return self._public.sensors.alerts()
        if "summaries" in sees:
            alerts = self._public.sensors.alerts()
            return tuple([Alert(at, service, severity, "") for at, service, severity, _ in alerts])
        return ()

    @property
    def chat(self) -> tuple[Message, ...]:
        chat: tuple[Message, ...] | None = self.kept.get("chat")
        if chat is None:
            role = self.role
            chat = tuple([message for message in self._public.journal if message.readable_by(role)])
            self.kept["chat"] = chat
        return chat

    @property
    def trace(self) -> tuple[TraceEntry, ...]:
        return self._public.sensors.trace() if "trace" in VISIBILITY[self.role] else ()

    @property
    def history(self) -> tuple[TraceEntry, ...]:
        """The part of the trace from before the incident. Sensors may offer it by itself, because
        the rest takes time to draw."""
        offered = getattr(self._public.sensors, "history", None)
        if offered is None or "trace" not in VISIBILITY[self.role]:
            return tuple(entry for entry in self.trace if entry.step <= 0)
        history: tuple[TraceEntry, ...] = offered()
        return history

    @property
    def inspections(self) -> tuple[Inspection, ...]:
        if "inspections" not in VISIBILITY[self.role]:
            return ()
        return tuple([found for found in self._public.findings if isinstance(found, Inspection)])

    @property
    def audits(self) -> tuple[AuditReport, ...]:
        if "audits" not in VISIBILITY[self.role]:
            return ()
        return tuple([found for found in self._public.findings if isinstance(found, AuditReport)])

    def with_chat(self, chat: tuple[Message, ...]) -> RoleView:
        """The same with other messages."""
        return RoleView(self.role, self._public._replace(journal=chat))

    def _content(self) -> tuple[Role, Public]:
        channels = Recorded(self.health, self.metrics, self.logs, self.alerts, self.trace)
        findings: tuple[Inspection | AuditReport, ...] = (*self.inspections, *self.audits)
        return self.role, Public(self.rules, self.step, self.limit, self.chat, channels, findings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RoleView) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash((self.role, self.step, self.chat))

    def __reduce__(self) -> tuple[object, ...]:
        return (RoleView, self._content())

    def __repr__(self) -> str:
        return f"RoleView({self.role.value}, step {self.step} of {self.limit})"

    def _repr_html_(self) -> str:
        """In a notebook."""
        from chaosops.roles.view_html import view_html

        return view_html(self)


def project(public: Public, role: Role) -> RoleView:
    return RoleView(role, public)
