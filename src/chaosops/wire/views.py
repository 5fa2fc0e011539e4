"""A view that came over the wire, as the policies know it: so any of them can play from afar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaosops.core.actions import Communicate
from chaosops.core.rules import Rulebook
from chaosops.core.telemetry import (
    Alert,
    AuditedAct,
    AuditReport,
    Inspection,
    LogLine,
    Message,
    ServiceChange,
    ServiceHealth,
    ServiceReading,
    TraceEntry,
)
from chaosops.core.vocabulary import HEALTH_WORDS, Health, Role
from chaosops.roles.parse import parse_object
from chaosops.roles.view import Recorded, RoleView

_HEALTH = {word: Health(rank) for rank, word in enumerate(HEALTH_WORDS)}


def read_rules(rules: Mapping[str, Any]) -> Rulebook:
    calls = rules["calls"]  # null: there is a call graph, but this role does not see it
    return Rulebook(
        services=tuple(rules["services"]),
        agents=tuple(rules["agents"]),
        causes=tuple(rules["causes"]),
        verbs={Role(role): tuple(verbs) for role, verbs in rules["verbs"].items()},
        replica_choices=tuple(rules["replica_choices"]),
        calls=None if calls is None else tuple((name, tuple(to)) for name, to in calls.items()),
        limits_pct=tuple(rules["limits_pct"].items()),
    )


def read_view(view: Mapping[str, Any], rules: Rulebook) -> RoleView:
    """The inverse of ``RoleView.to_wire``."""
    sensors = Recorded(
        tuple(ServiceHealth(name, _HEALTH[word]) for name, word in view["health"].items()),
        tuple(ServiceReading(**{**m, "health": _HEALTH[m["health"]]}) for m in view["metrics"]),
        tuple(LogLine(**line) for line in view["logs"]),
        tuple(Alert(**alert) for alert in view["alerts"]),
        tuple(TraceEntry(**entry) for entry in view["trace"]),
    )
    findings: tuple[Inspection | AuditReport, ...] = (
        *(_inspection(found) for found in view["inspections"]),
        *(_audit(report) for report in view["audits"]),
    )
    chat = tuple(_message(message) for message in view["chat"])
    role = Role(view["role"])
    return RoleView(role, rules, view["step"], view["limit"], chat, sensors, findings)


def _message(message: Mapping[str, Any]) -> Message:
    sender = message["sender"]
    wire = message.get("action")
    action = Communicate(message["text"], message["to"]) if wire is None else parse_object(wire)
    return Message(message["step"], Role(sender) if sender in set(Role) else sender, action)


def _inspection(found: Mapping[str, Any]) -> Inspection:
    changes = tuple(ServiceChange(**change) for change in found["changes"])
    busy = tuple((minute, share) for minute, share in found["utilisation"])
    return Inspection(found["step"], found["service"], changes, busy)


def _audit(report: Mapping[str, Any]) -> AuditReport:
    acts = tuple(AuditedAct(**act) for act in report["acts"])
    return AuditReport(report["step"], report["agent"], report["limit_pct"], acts)
