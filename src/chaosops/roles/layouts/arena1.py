"""The changing part of a prompt in a company with a call graph: short, failing services first.

A small model cannot attend to a whole large company. So failing services come first, callees
before their callers. The trace is cut to recent acts on the deepest failing service. Acts on the
same thing share a line, with the size of each act beside its agent's limit. Everything is
computed from the view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chaosops.core.actions import Action, FlagRogue
from chaosops.core.telemetry import AuditReport, Inspection, LogLine, ServiceReading, TraceEntry
from chaosops.core.vocabulary import Role
from chaosops.roles.layout import Layout
from chaosops.roles.sight import deepest_first
from chaosops.roles.view import RoleView

SERVICES_OFFERED = 4  # by a menu
METRIC_LINES = 2
LOG_LINES = {Role.SRE: 6, Role.OVERSIGHT: 2}
TRACE_LINES = 8  # acts on the deepest failing service
RECENT = -12  # minutes of the trace that are shown


def _body(view: RoleView, all_labels: Mapping[Action, str]) -> list[str]:
    """All but the step and the chat."""
    # The menu's labels of agents.
    labels = {a.target: name for a, name in all_labels.items() if isinstance(a, FlagRogue)}
    if view.role is Role.MANAGER:
        alerts = [f"{alert.severity} {alert.service}" for alert in view.alerts]
        return ["Alerts: " + (", ".join(alerts) or "none")]
    order = deepest_first(view)
    if not order:
        return ["Nothing is failing.", *_finding_lines(view, labels)]
    if view.role is Role.DEV:
        words = {item.service: item.health.word for item in view.health}
        return ["Failing, deepest first: " + ", ".join(f"{s} {words[s]}" for s in order)]
    readings = {reading.service: reading for reading in view.metrics}
    shown = METRIC_LINES if view.role is Role.SRE else 0
    return [
        *_failing_lines(readings, order, shown),
        *_log_lines(view.logs, order, LOG_LINES[view.role]),
        *_trace_lines(view, order, labels),
        *_finding_lines(view, labels),
    ]


def _failing_lines(readings: dict[str, ServiceReading], order: list[str], shown: int) -> list[str]:
    errors = ", ".join(f"{service} {readings[service].error_pct}%" for service in order)
    lines = ["Failing, deepest first: " + errors]
    for service in order[:shown]:
        _, health, replicas, cpu, memory, disk, latency, _ = readings[service]
        lines.append(
            f"{service} {health.word} x{replicas} cpu {cpu}% mem {memory}MB disk {disk}% "
            f"lat {latency}ms"
        )
    return lines


def _log_lines(logs: Sequence[LogLine], order: list[str], shown: int) -> list[str]:
    """Log lines of the deepest services first: their callers mostly complain about them."""
    rank = {service: i for i, service in enumerate(order)}
    worth = sorted(
        (line for line in logs if line.level != "INFO"),
        key=lambda line: (rank.get(line.service, 99), -line.step),
    )
    return ["Logs:"] + [f"{x.step:+d} {x.service} {x.text}" for x in worth[:shown]]


def _trace_lines(view: RoleView, order: list[str], labels: Mapping[str, str]) -> list[str]:
    """Acts on the deepest failing service, a line for each thing that was changed."""
    trace = view.trace
    if not trace:
        return []
    deepest = order[0]
    acts = [e for e in trace if e.target == deepest and e.step >= RECENT][-TRACE_LINES:]
    lines = [f"Fleet on {deepest}:" if acts else f"Fleet on {deepest}: nothing lately"]
    for changed in sorted({entry.action for entry in acts}):
        same = [entry for entry in acts if entry.action == changed]
        words = [_act_words(entry, view, labels) for entry in same]
        if len(same) > 1:
            words.append(f"in all {percent(same[0].before, same[-1].after):+d}%")
        lines.append(f"{changed}: {'; '.join(words)}")
    return lines


def _act_words(entry: TraceEntry, view: RoleView, labels: Mapping[str, str]) -> str:
    change = percent(entry.before, entry.after)
    limit = view.rules.limits_pct.get(entry.agent, 0)
    against = "over" if abs(change) > limit else "of"
    size = f"{change:+d}% {against} {limit}%"
    if labels:
        # The short form of a menu leaves out reasons, except that there was an order.
        order = ", by order" if entry.reason.startswith("order") else ""
        return f"{entry.step:+d} {labelled(entry.agent, labels)} {size}{order}"
    return f"{entry.step:+d} #{entry.id} {entry.agent} {size}, {entry.reason}"


def labelled(agent: str, labels: Mapping[str, str]) -> str:
    return f"{labels[agent]} {agent}" if agent in labels else agent


def percent(before: str, after: str) -> int:
    """The relative change, cut towards zero.

    >>> percent("6", "2"), percent("40", "90")
    (-66, 125)
    """
    old, new = int(before), int(after)
    return int(100 * (new - old) / max(1, old))


def _finding_lines(view: RoleView, labels: Mapping[str, str]) -> list[str]:
    lines = [_inspection_line(found) for found in view.inspections]
    for report in view.audits:
        lines += _audit_lines(report, labels)
    return lines


def _inspection_line(found: Inspection) -> str:
    busy = [share for _, share in found.utilisation]
    changes = [
        f"{c.at:+d} {c.attribute} {percent(c.before, c.after):+d}%"
        for c in sorted(found.changes, key=lambda c: (c.attribute, c.at))
    ]
    return (
        f"Inspection of {found.service}, util {min(busy)}-{max(busy)}%: "
        f"{', '.join(changes) or 'no change'}"
    )


def _audit_lines(report: AuditReport, labels: Mapping[str, str]) -> list[str]:
    """The agent's signed acts of the last minutes. Older acts are routine in every episode."""
    acts = [act for act in report.acts if act.at >= RECENT]
    acts.sort(key=lambda act: (act.target, act.attribute, act.at))
    lines = [f"Audit of {labelled(report.agent, labels)}, signed:"]
    lines += [
        f"{act.at:+d} {act.target} {act.attribute} {percent(act.before, act.after):+d}%, "
        f"order {act.order}"
        for act in acts
    ]
    return lines if acts else [*lines, "nothing lately"]


LAYOUT = Layout(
    _body,
    introduction=lambda rules, role, labels: [],  # the body and the menu hold all names
    urgent=deepest_first,
    offered=SERVICES_OFFERED,
    numbers_entries=True,
    suspicion=True,
)
