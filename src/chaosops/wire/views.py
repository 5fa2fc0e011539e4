"""A role's view, and the rules that it knows, as JSON and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from chaosops.core.actions import Communicate, to_wire
from chaosops.core.documents import Clauses, Page
from chaosops.core.labels import MenuOrder
from chaosops.core.retired import require_played
from chaosops.core.rules import Rulebook
from chaosops.core.telemetry import (
    Alert,
    AuditedAct,
    AuditReport,
    Inspection,
    LogLine,
    Message,
    Public,
    ServiceChange,
    ServiceHealth,
    ServiceReading,
    TraceEntry,
)
from chaosops.core.vocabulary import HEALTH_WORDS, Health, Role
from chaosops.roles.parse import parse_object
from chaosops.roles.view import Recorded, RoleView

_HEALTH = {word: Health(rank) for rank, word in enumerate(HEALTH_WORDS)}


def view_to_wire(view: RoleView) -> dict[str, Any]:
    """Only what the role may see: a channel that is hidden from it is empty."""
    return {
        "role": view.role.value,
        "step": view.step,
        "limit": view.limit,
        "health": {item.service: item.health.word for item in view.health},
        "metrics": [reading_to_wire(reading) for reading in view.metrics],
        "logs": [line._asdict() for line in view.logs],
        "alerts": [alert._asdict() for alert in view.alerts],
        "chat": [message_to_wire(message) for message in view.chat],
        "trace": [entry._asdict() for entry in view.trace],
        "inspections": [finding_to_wire(found) for found in view.inspections],
        "audits": [finding_to_wire(report) for report in view.audits],
    }


def read_view(view: Mapping[str, Any], rules: Rulebook) -> RoleView:
    """The inverse of ``view_to_wire``, so that every policy can play on a remote server."""
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
    public = Public(rules, view["step"], view["limit"], chat, sensors, findings)
    return RoleView(Role(view["role"]), public)


@lru_cache(maxsize=256)
def rules_to_wire(rules: Rulebook) -> dict[str, Any]:
    """``calls`` is None if there is a call graph and this role does not see it."""
    calls = {caller: list(callees) for caller, callees in rules.calls.items()}
    shown = None if rules.hides_calls else calls
    return {
        "services": list(rules.services),
        "agents": list(rules.agents),
        "causes": list(rules.causes),
        "verbs": {role.value: list(verbs) for role, verbs in rules.verbs.items()},
        "replica_choices": list(rules.replica_choices),
        "calls": shown,
        "limits_pct": dict(rules.limits_pct),
        **({} if rules.layout == _unnamed_layout(shown) else {"layout": rules.layout}),
        **_documents_to_wire(rules),
    }


def join_rules(known: Iterable[Rulebook]) -> dict[str, Any]:
    """What several roles know together."""
    told = [rules_to_wire(rules) for rules in known]
    joined = {name: next((t[name] for t in told if t[name]), told[0][name]) for name in told[0]}
    if "menus" in joined:
        joined["menus"] = {role: order for t in told for role, order in t["menus"].items()}
    return joined


def _documents_to_wire(rules: Rulebook) -> dict[str, Any]:
    """Left out where a company has none."""
    menus = rules.menus
    if not menus:
        return {}
    return {
        "runbook": [page._asdict() for page in rules.runbook],
        "charter": dict(rules.charter),
        "menus": {
            role.value: {"labels": list(labels), "verbs": list(verbs)}
            for role, (labels, verbs) in menus.items()
        },
    }


def _unnamed_layout(calls: Mapping[str, Any] | None) -> str:
    """The layout of rules that name none: without a call graph they are of the classic pack."""
    return "classic" if calls == {} else ""


def read_rules(rules: Mapping[str, Any]) -> Rulebook:
    """The inverse of ``rules_to_wire``."""
    calls = rules["calls"]
    layout = rules.get("layout") or _unnamed_layout(calls)
    if not layout:
        require_played("what names no layout", [("arena", "1")])
    return Rulebook(
        services=tuple(rules["services"]),
        agents=tuple(rules["agents"]),
        causes=tuple(rules["causes"]),
        verbs={Role(role): tuple(verbs) for role, verbs in rules["verbs"].items()},
        replica_choices=tuple(rules["replica_choices"]),
        layout=layout,
        calls=None if calls is None else tuple((name, tuple(to)) for name, to in calls.items()),
        limits_pct=tuple(rules["limits_pct"].items()),
        runbook=tuple(Page(**page) for page in rules.get("runbook", ())),
        charter=tuple(Clauses(*clause) for clause in rules.get("charter", {}).items()),
        menus={
            Role(role): MenuOrder(tuple(order["labels"]), tuple(order["verbs"]))
            for role, order in rules.get("menus", {}).items()
        },
    )


def reading_to_wire(reading: ServiceReading) -> dict[str, Any]:
    return {**reading._asdict(), "health": reading.health.word}


def message_to_wire(message: Message) -> dict[str, Any]:
    """``action`` is left out if the message is talk."""
    step, sender, action = message
    said = {"step": step, "sender": str(sender), "to": message.to, "text": message.text}
    return said if message.is_talk else {**said, "action": to_wire(action)}


def finding_to_wire(found: Inspection | AuditReport) -> dict[str, Any]:
    if isinstance(found, Inspection):
        return {**found._asdict(), "changes": [change._asdict() for change in found.changes]}
    return {**found._asdict(), "acts": [act._asdict() for act in found.acts]}


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
