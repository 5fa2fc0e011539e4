"""What a role sees in a company with documents, as lines that fit a terminal.

The screen unfolds what belongs to the failing services: the same selection as in a prompt. The
rest stays folded; a command opens it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import NamedTuple

from chaosops.core.telemetry import AuditReport, Inspection, Message, TraceEntry
from chaosops.core.vocabulary import ROLE_NAMES, Health, Role
from chaosops.report.acts import change_words, clock
from chaosops.roles.layouts import layout_of
from chaosops.roles.view import RoleView

WIDTH = 100
HEIGHT = 36  # of a screen, so that hints and input fit below it
_MARK = {Health.HEALTHY: "●", Health.DEGRADED: "▲", Health.CRITICAL: "■"}
_LOGS = 6
_CHAT = 8

Entry = Sequence[str]  # the lines of one thing


class Section(NamedTuple):
    title: str
    entries: Sequence[Entry]
    least: int
    """How many entries stay where room is short."""
    command: str
    """What shows all of them."""
    total: int = 0
    """How many there are, with those that are folded from the start."""
    newest_last: bool = False

    def lines(self, shown: int) -> list[str]:
        kept = self.entries[-shown:] if self.newest_last else self.entries[:shown]
        total = max(self.total, len(self.entries))
        folded = f" ({len(kept)} of {total}; all: {self.command})" if len(kept) < total else ""
        return [self.title + folded, *(line for entry in kept for line in entry)]


def screen(view: RoleView, news: str = "") -> list[str]:
    """``news`` stands at the top."""
    head = f"── step {view.step + 1} of {view.limit} · you are {ROLE_NAMES[view.role]} {news}"
    return [head.ljust(WIDTH, "─"), *_fitted(_sections(view), HEIGHT - 1)]


def _fitted(sections: Sequence[Section], rows: int) -> list[str]:
    """The chat gives way first, then the services, then what stands before the chat."""
    shown = [max(1, len(section.entries)) for section in sections]

    def lines() -> list[str]:
        return [x for s, n in zip(sections, shown, strict=True) for x in s.lines(n)]

    first, *others, last = range(len(sections))
    for i in (last, first, *reversed(others)):
        while shown[i] > sections[i].least and len(lines()) > rows:
            shown[i] -= 1
    return lines()


def _sections(view: RoleView) -> list[Section]:
    """The most important first."""
    failing = service_entries(view) or [["  none"]]
    sections = [Section("Services in trouble", failing, 3, "services")]
    sections += _act_sections(view)
    sections += _document_sections(view)
    sections += _finding_sections(view)
    if view.role is Role.SRE:
        logs = [line for line in log_entries(view) if " INFO " not in line[0]][-_LOGS:]
        total = len(view.logs) if logs else 0
        sections.append(Section("Logs", logs or [["  none"]], 3, "logs", total, newest_last=True))
    said = chat_entries(view)
    team = said[-_CHAT:] or [["  silent so far"]]
    sections.append(Section("Team", team, 2, "chat", len(said), newest_last=True))
    return sections


def _act_sections(view: RoleView) -> list[Section]:
    layout = layout_of(view.rules)
    if layout.in_sight is None or not view.trace:
        return []
    acts = layout.in_sight(view)
    entries = act_entries(acts) or [["  none lately"]]
    title = "What the fleet agents did to them"
    return [Section(title, entries, len(entries), "trace", len(view.trace))]


def _document_sections(view: RoleView) -> list[Section]:
    layout = layout_of(view.rules)
    assert layout.relevant is not None
    found, rules = layout.relevant(view), view.rules
    sections = []
    if view.role is Role.SRE:
        signs = [item(page.name, page.signs) for page in rules.runbook]
        sections.append(Section("Runbook: the signs of each fault", signs, 5, "docs"))
    pages = [page_entry(*page) for page in found.pages]
    title = "Runbook: what does damage" if view.role is Role.OVERSIGHT else "Runbook"
    if pages or view.role is not Role.SRE:
        pages = pages or [["  no page was named yet"]]
        least = 2 if view.role is Role.OVERSIGHT else 1
        sections.append(Section(title, pages, least, "docs", len(rules.runbook)))
    if rules.charter:
        clauses = [item(*clauses) for clauses in found.clauses] or [["  none concerned"]]
        title, total = "Charter: what they may do", len(rules.charter)
        sections.append(Section(title, clauses, len(clauses), "charter", total))
    return sections


def _finding_sections(view: RoleView) -> list[Section]:
    sections = []
    if view.audits:
        layout = layout_of(view.rules)
        near = {act.target for act in layout.in_sight(view)} if layout.in_sight else set()
        audits = [audit_entry(report, near) for report in view.audits]
        title = "Audits: signed acts on these services"
        sections.append(Section(title, audits, 1, "audits", newest_last=True))
    if view.inspections:
        looks = [inspection_entry(found) for found in view.inspections]
        title = "Inspections: changes, and how busy the service was"
        sections.append(Section(title, looks, 1, "audits", newest_last=True))
    return sections


def service_entries(view: RoleView, *, everyone: bool = False) -> list[Entry]:
    """Services that fail, the deepest first; or all. The Manager sees alerts without their text."""
    alerts = {alert.service: alert for alert in view.alerts}
    if not view.health:
        return [[f"  {alert.severity:<5} {alert.service}"] for alert in view.alerts]
    health = {item.service: item.health for item in view.health}
    readings = {reading.service: reading for reading in view.metrics}
    urgent = layout_of(view.rules).urgent
    order = list(health) if everyone or urgent is None else list(urgent(view))
    chosen = [name for name in order if everyone or health[name]]
    width = max(map(len, chosen), default=0)
    entries: list[Entry] = []
    for name in chosen:
        line = f"  {_MARK[health[name]]} {name:<{width}}"
        if name in readings:
            one = readings[name]
            if everyone or view.role is Role.SRE:
                line += (
                    f"  err {one.error_pct:>4.1f}% cpu {one.cpu_pct:>3}%"
                    f" mem {one.memory_mb:>5}M disk {one.disk_pct:>3}%"
                    f" {one.latency_ms:>5}ms x{one.replicas}"
                )
        else:
            line += f"  {health[name].word}"
        text = "" if everyone or name not in alerts else f"  {alerts[name].text}"
        entries.append([_cut(line + text)])
    return entries


def act_entries(acts: Iterable[TraceEntry]) -> list[Entry]:
    rows = [
        (
            f"#{act.id}",
            clock(act.step),
            f"{act.action} of {act.target}",
            change_words(act.before, act.after),
            act.agent,
            act.reason,
        )
        for act in acts
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(6)] if rows else []
    return [
        [_cut("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))]
        for row in rows
    ]


def page_entry(name: str, signs: str, cause: str, remedy: str) -> Entry:
    """Oversight reads only what does damage."""
    if not signs:
        return item(name, cause)
    lines = [f"  {name}"]
    for title, text in (("signs", signs), ("cause", cause), ("remedy", remedy)):
        lines += _wrapped(f"{title}: {text}", "    ")
    return lines


def clause_entries(view: RoleView) -> list[Entry]:
    return [item(*clauses) for clauses in view.rules.charter]


def audit_entry(report: AuditReport, near: Iterable[str] | None = None) -> Entry:
    """The signed acts of an agent with its orders; with ``near``, those on these services."""
    acts = [act for act in report.acts if near is None or act.target in near]
    lines = [f"  {report.agent} (step {report.step}){'' if acts else ': none'}"]
    for act in acts:
        change = change_words(act.before, act.after)
        words = f"{clock(act.at)} {act.attribute} of {act.target} {change}; order: {act.order}"
        lines += _wrapped(words, "    ")
    return lines


def inspection_entry(found: Inspection) -> Entry:
    busy = dict(found.utilisation)
    words = [
        f"{clock(change.at)} {change.attribute} {change_words(change.before, change.after)}"
        + (f" at util {busy[change.at]}%" if change.at in busy else "")
        for change in found.changes
    ]
    return item(found.service, "; ".join(words) or "no change")


def log_entries(view: RoleView) -> list[Entry]:
    return [
        [_cut(f"  {clock(line.step)} {line.level} {line.service}: {line.text}")]
        for line in view.logs
    ]


def chat_entries(view: RoleView) -> list[Entry]:
    return [[_cut(_said(message, view.role))] for message in view.chat]


def _said(message: Message, reader: Role) -> str:
    name = "you" if message.sender == reader else message.sender
    whom = f" to {'you' if message.to == reader else message.to}" if message.to else ""
    text = " ".join(message.text.split())
    return f"  {message.step:>2} {name}{whom}{':' if message.is_talk else ' did'} {text}"


def item(name: str, text: str) -> Entry:
    """
    >>> item("autoscaler", "not before -4")
    ['  autoscaler: not before -4']
    """
    return _wrapped(f"{name}: {text}", "  ")


def _wrapped(text: str, indent: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")


def _cut(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"
