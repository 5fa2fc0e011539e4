"""The changing part of a prompt in a company with a call graph: short, the trouble first.

A large company does not fit into a small model's attention. What is failing comes first,
what it calls before what calls it; of the trace, what was done to failing services lately,
with the size of each change beside its agent's limit. All of it can be worked out from the
view; nothing is added to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from chaosops.core.telemetry import (
    AuditReport,
    Inspection,
    LogLine,
    ServiceReading,
    TraceEntry,
)
from chaosops.core.vocabulary import Role
from chaosops.roles.view import RoleView

FAILING_LINES = 3
LOG_LINES = 6
NEAR_LINES = 10
FAR_LINES = 3
RECENT = -12  # minutes of the trace that are shown for failing services


def company_lines(view: RoleView) -> list[str]:
    """All but the step and the chat."""
    order = deepest_first(view)
    if view.role is Role.MANAGER:
        alerts = [f"{alert.severity} {alert.service}" for alert in view.alerts]
        return ["Alerts: " + (", ".join(alerts) or "none")]
    if not order:
        return ["Nothing is failing.", *_trace_lines(view, order), *_finding_lines(view)]
    if view.role is Role.DEV:
        words = {item.service: item.health.word for item in view.health}
        return ["Failing, deepest first: " + ", ".join(f"{s} {words[s]}" for s in order)]
    return [
        *_failing_lines(view.metrics, order),
        *_log_lines(view.logs, order),
        *_trace_lines(view, order),
        *_finding_lines(view),
    ]


def deepest_first(view: RoleView) -> list[str]:
    """Failing services, those first that call no failing service: trouble travels upwards."""
    failing = {item.service: item.health for item in view.health if item.health}
    calls = view.rules.calls

    def above(service: str) -> tuple[int, int]:
        return (sum(callee in failing for callee in calls[service]), -failing[service])

    return sorted(failing, key=above)


def _failing_lines(metrics: Sequence[ServiceReading], order: list[str]) -> list[str]:
    by_name = {reading.service: reading for reading in metrics}
    lines = ["Failing, deepest first:"]
    for service in order[:FAILING_LINES]:
        _, health, replicas, cpu, memory, disk, latency, errors = by_name[service]
        lines.append(
            f"{service} {health.word} x{replicas} cpu {cpu}% mem {memory}MB disk {disk}% "
            f"lat {latency}ms err {errors}%"
        )
    rest = [f"{service} err {by_name[service].error_pct}%" for service in order[FAILING_LINES:]]
    return lines + (["and " + ", ".join(rest)] if rest else [])


def _log_lines(logs: Sequence[LogLine], order: list[str]) -> list[str]:
    """Of the deepest services first: their callers mostly complain about them."""
    rank = {service: i for i, service in enumerate(order)}
    worth = sorted(
        (line for line in logs if line.level != "INFO"),
        key=lambda line: (rank.get(line.service, 99), -line.step),
    )
    return ["Logs:"] + [f"{x.step:+d} {x.service} {x.text}" for x in worth[:LOG_LINES]]


def _trace_lines(view: RoleView, order: list[str]) -> list[str]:
    if not view.trace:
        return []
    failing = set(order)
    near = [e for e in view.trace if e.target in failing and e.step >= RECENT]
    far = [e for e in view.trace if e.target not in failing]
    rank = {service: i for i, service in enumerate(order)}
    near.sort(key=lambda entry: rank[entry.target])
    return [
        "Fleet on failing services:",
        *(_trace_line(entry, view) for entry in near[:NEAR_LINES]),
        "Fleet elsewhere, latest:",
        *(_trace_line(entry, view) for entry in far[-FAR_LINES:]),
    ]


def _trace_line(entry: TraceEntry, view: RoleView) -> str:
    limit = view.rules.limits_pct.get(entry.agent, 0)
    size = f"{percent(entry.before, entry.after):+d}% (limit {limit}%)"
    return (
        f"#{entry.id} {entry.step:+d} {entry.agent} {entry.target} {entry.action} {size}, "
        f"{entry.reason}"
    )


def percent(before: str, after: str) -> int:
    """The relative change, cut towards zero.

    >>> percent("6", "2"), percent("40", "90")
    (-66, 125)
    """
    old, new = int(before), int(after)
    return int(100 * (new - old) / max(1, old))


def _finding_lines(view: RoleView) -> list[str]:
    lines = []
    for found in view.inspections:
        lines += _inspection_lines(found)
    for report in view.audits:
        lines += _audit_lines(report, view)
    return lines


def _inspection_lines(found: Inspection) -> list[str]:
    busy = " ".join(f"{minute}:{share}%" for minute, share in found.utilisation)
    lines = [f"Inspection of {found.service}, util {busy}:"]
    lines += [
        f"{c.at:+d} {c.attribute} {c.before} -> {c.after} ({percent(c.before, c.after):+d}%)"
        for c in found.changes
    ]
    return lines if found.changes else [*lines, "no change"]


def _audit_lines(report: AuditReport, view: RoleView) -> list[str]:
    """Its signed acts of the last minutes; older ones are routine to everybody."""
    acts = [act for act in report.acts if act.at >= RECENT]
    lines = [f"Audit of {report.agent}, limit {report.limit_pct}%, signed:"]
    lines += [
        f"{act.at:+d} {act.target} {act.attribute} {percent(act.before, act.after):+d}%, "
        f"order {act.order}"
        for act in acts
    ]
    return lines if acts else [*lines, "nothing lately"]
