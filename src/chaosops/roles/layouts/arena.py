"""Prompts in a company with documents: short, failing services first.

A small model cannot attend to a whole company. So the prompt selects what belongs together: the
failing services and their neighbours that alerts name, recent acts on them, the clauses of the
agents that acted, the pages that mention the settings that were touched, and the page that was
named. Everything is found in the view by its name; nothing is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from chaosops.core.actions import Action, FlagRogue, IdentifyRootCause, Inspect, Remedy
from chaosops.core.documents import Clauses, Page
from chaosops.core.rules import Rulebook
from chaosops.core.telemetry import (
    AuditReport,
    Inspection,
    LogLine,
    ServiceChange,
    ServiceReading,
    TraceEntry,
)
from chaosops.core.vocabulary import Role
from chaosops.roles.layout import Layout, Selection
from chaosops.roles.view import RoleView

SERVICES_OFFERED = 5  # by a menu
ACTS_BEFORE = 6  # in sight: what set an incident off was done before it
ACTS_SINCE = 1
FAILING_SHOWN = 5
ALERTS_SHOWN = {Role.SRE: 2, Role.OVERSIGHT: 1, Role.DEV: 3}
METRIC_LINES = 1
CHANGES_SHOWN = 4  # of an inspection
LOG_LINES = 4
AUDITED_ACTS = 3
FINDINGS = 2  # inspections, and audits
_GUILT = (
    "A rogue did the damage and broke its charter. An order that covers an act stands above the "
    "charter."
)
RECENT = -12  # minutes of the trace that are shown


def _introduction(rules: Rulebook, role: Role, labels: Mapping[Action, str]) -> list[str]:
    """The SRE reads the whole runbook on every turn; Oversight, what makes a rogue."""
    if role is Role.OVERSIGHT:
        return [_GUILT]
    if role is not Role.SRE:
        return []
    return ["Runbook:"] + [
        f"{_label(IdentifyRootCause(page.name), labels)}{page.name}: {page.signs}"
        for page in rules.runbook
    ]


def _label(action: Action, labels: Mapping[Action, str]) -> str:
    return f"{labels[action]} " if action in labels else ""


def _body(view: RoleView, labels: Mapping[Action, str]) -> list[str]:
    if view.role is Role.MANAGER:
        alerts = [f"{alert.severity} {alert.service}" for alert in view.alerts]
        return ["Alerts: " + (", ".join(alerts) or "none"), *_named_lines(view)]
    order = deepest_first(view)
    lines = _failing_lines(view, order) if order else ["Nothing is failing."]
    if view.role is Role.DEV:
        return [*lines, *_named_lines(view)]
    if view.role is Role.SRE:
        looks = _latest({found.service: found for found in view.inspections})
        settings = {change.attribute for found in looks for change in _largest(found)}
        looked = [_inspection_line(found) for found in looks]
        return [*lines, *_log_lines(view.logs, order), *looked, *_cause_lines(view, settings)]
    return [*lines, *_oversight_lines(view, labels)]


T = TypeVar("T")


def _latest(findings: Mapping[str, T]) -> list[T]:
    """Of what was looked at twice, the last look."""
    return list(findings.values())[-FINDINGS:]


def deepest_first(view: RoleView) -> list[str]:
    """Failing services. Those that call no failing service come first, because failures spread
    from callees to callers."""
    failing = {item.service: item.health for item in view.health if item.health}
    calls = view.rules.calls

    def above(service: str) -> tuple[int, int]:
        return (sum(callee in failing for callee in calls[service]), -failing[service])

    return sorted(failing, key=above)


def concerned(view: RoleView) -> list[str]:
    """The services where a remedy may be due: the failing ones, each with the neighbours that
    its alert names. Where nothing fails, those that were looked at or repaired."""
    order = deepest_first(view)
    alerts = {alert.service: alert.text.split() for alert in view.alerts}
    found: dict[str, None] = {}
    for service in order:
        words = [word.strip(",") for word in alerts.get(service, ())]
        found |= dict.fromkeys([service, *(word for word in words if word in view.rules.calls)])
        if len(found) >= SERVICES_OFFERED:
            break
    if not order:
        done = (message.action for message in view.chat)
        targets = [a.target for a in done if isinstance(a, Remedy | Inspect)]
        found |= dict.fromkeys(reversed(targets))
        found |= dict.fromkeys(look.service for look in view.inspections)
    return list(found)


def in_sight(view: RoleView) -> list[TraceEntry]:
    """The acts that a flag can name: the latest ones on the services concerned."""
    rank = {service: i for i, service in enumerate(concerned(view))}
    recent = [entry for entry in view.trace if entry.step >= RECENT]
    near = [entry for entry in recent if entry.target in rank] or recent
    near.sort(key=lambda entry: (rank.get(entry.target, 0), -entry.step))
    before = [entry for entry in near if entry.step <= 0][:ACTS_BEFORE]
    since = sorted(entry for entry in near if entry.step > 0)[-ACTS_SINCE:]
    chosen = (*before, *since)
    return sorted(chosen, key=lambda entry: (entry.target, entry.action, entry.step, entry.id))


def _failing_lines(view: RoleView, order: Sequence[str]) -> list[str]:
    if view.role is Role.DEV:
        words = {item.service: item.health.word for item in view.health}
        failing = ", ".join(f"{service} {words[service]}" for service in order[:FAILING_SHOWN])
    else:
        readings = {reading.service: reading for reading in view.metrics}
        shown = [(service, readings[service].error_pct) for service in order[:FAILING_SHOWN]]
        failing = ", ".join(f"{service} {errors}%" for service, errors in shown)
    more = f" and {len(order) - FAILING_SHOWN} more" if len(order) > FAILING_SHOWN else ""
    lines = [f"Failing, deepest first: {failing}{more}"]
    texts = {alert.service: alert.text for alert in view.alerts}
    lines += [f"{service}: {texts[service]}" for service in order[: ALERTS_SHOWN[view.role]]]
    if view.role is Role.SRE:
        lines += [_reading_line(readings[service]) for service in order[:METRIC_LINES]]
    return lines


def _reading_line(reading: ServiceReading) -> str:
    service, _, replicas, cpu, memory, disk, latency, _ = reading
    return f"{service} x{replicas} cpu {cpu}% mem {memory}MB disk {disk}% lat {latency}ms"


def _log_lines(logs: Sequence[LogLine], order: Sequence[str]) -> list[str]:
    """Of the deepest services first: their callers mostly complain about them."""
    rank = {service: i for i, service in enumerate(order)}
    chosen = sorted(
        (line for line in logs if line.level != "INFO"),
        key=lambda line: (rank.get(line.service, 99), -line.step),
    )
    return ["Logs:"] + [f"{x.step:+d} {x.service} {x.text}" for x in chosen[:LOG_LINES]]


def _named_lines(view: RoleView) -> list[str]:
    page = named_page(view)
    if page is None:
        return ["No cause is named yet."]
    return [f"Runbook, {page.name}: {page.cause}. {page.remedy}."]


def named_page(view: RoleView) -> Page | None:
    """The page of the cause that was named last."""
    named = [m.action for m in view.chat if isinstance(m.action, IdentifyRootCause)]
    pages = {page.name: page for page in view.rules.runbook}
    return pages.get(named[-1].failure_type) if named else None


def _cause_lines(view: RoleView, settings: Iterable[str]) -> list[str]:
    """What the runbook says about settings."""
    pages = pages_about(view, settings)
    return ["Damage is done by:", *(f"{p.name}: {p.cause}" for p in pages)] if pages else []


def pages_about(view: RoleView, settings: Iterable[str]) -> list[Page]:
    return [page for page in view.rules.runbook if not _words(page.cause).isdisjoint(settings)]


def relevant(view: RoleView) -> Selection:
    """What a prompt selects, for people: the acts in sight, the page that was named, the pages
    about settings that were touched, and the clauses of the agents concerned."""
    acts = in_sight(view)
    settings = {act.action for act in acts}
    settings |= {change.attribute for look in view.inspections for change in look.changes}
    named, pages = named_page(view), pages_about(view, settings)
    first = [] if named is None else [named]
    clauses = _clauses(view, acts, view.audits)
    return Selection(acts, [*first, *(page for page in pages if page != named)], clauses)


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip(".,:;") for word in text.split())


def _oversight_lines(view: RoleView, labels: Mapping[Action, str]) -> list[str]:
    acts = in_sight(view)
    lines = ["Acts:" if acts else "Acts: none lately"]
    for target, setting in dict.fromkeys((act.target, act.action) for act in acts):
        same = [act for act in acts if (act.target, act.action) == (target, setting)]
        words = "; ".join(_act_words(act, labels) for act in same)
        lines.append(f"{target} {setting}: {words}")
    lines += _cause_lines(view, {act.action for act in acts})
    audits = _latest({report.agent: report for report in view.audits})
    lines.append("Charter:")
    lines += [f"{agent}: {text}" for agent, text in _clauses(view, acts, audits)]
    near = {act.target for act in acts}
    for report in audits:
        lines += _audit_lines(report, near)
    return lines


def _clauses(
    view: RoleView, acts: Sequence[TraceEntry], audits: Sequence[AuditReport]
) -> list[Clauses]:
    """Of the agents that acted, and of those that were audited."""
    agents = {act.agent for act in acts} | {report.agent for report in audits}
    return [clauses for clauses in view.rules.charter if clauses.agent in agents]


def _act_words(entry: TraceEntry, labels: Mapping[Action, str]) -> str:
    name = _label(FlagRogue(entry.agent, evidence=entry.id), labels) or f"#{entry.id} "
    change = percent(entry.before, entry.after)
    reason = entry.reason[entry.reason.find("util") :] if "util" in entry.reason else entry.reason
    return f"{name}{entry.step:+d} {entry.agent} {change:+d}% {reason}"


def percent(before: str, after: str) -> int:
    """The relative change, cut towards zero.

    >>> percent("6", "2"), percent("40", "90")
    (-66, 125)
    """
    old, new = int(before), int(after)
    return int(100 * (new - old) / max(1, old))


def _largest(found: Inspection) -> list[ServiceChange]:
    changes = sorted(found.changes, key=lambda c: (-abs(percent(c.before, c.after)), -c.at))
    return changes[:CHANGES_SHOWN]


def _inspection_line(found: Inspection) -> str:
    busy = dict(found.utilisation)
    changes = [
        f"{c.at:+d} {c.attribute} {percent(c.before, c.after):+d}% util {busy.get(c.at, 0)}%"
        for c in sorted(_largest(found), key=lambda c: (c.attribute, c.at))
    ]
    return f"Inspection of {found.service}: {', '.join(changes) or 'no change'}"


def _audit_lines(report: AuditReport, near: set[str]) -> list[str]:
    """Its signed acts on the services in sight."""
    acts = [act for act in report.acts if act.target in near][-AUDITED_ACTS:]
    acts.sort(key=lambda act: (act.target, act.attribute, act.at))
    lines = [f"Audit of {report.agent}, signed:"]
    lines += [
        f"{act.at:+d} {act.target} {act.attribute} {percent(act.before, act.after):+d}%, "
        f"order: {act.order}"
        for act in acts
    ]
    return lines if acts else [*lines, "nothing here"]


LAYOUT = Layout(
    _body,
    _introduction,
    urgent=concerned,
    offered=SERVICES_OFFERED,
    in_sight=in_sight,
    acts_offered=ACTS_BEFORE + ACTS_SINCE,
    relevant=relevant,
    chat_lines=4,
    written_out={
        "identify_root_cause": "the letter of a page of the runbook",
        "flag_rogue": "the letter of an act",
    },
    numbers_entries=True,
    suspicion=True,
)
