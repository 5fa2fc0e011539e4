"""A view in a notebook: what the role sees, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from chaosops.core.html import box, folded, heading, table
from chaosops.core.vocabulary import ROLE_NAMES

if TYPE_CHECKING:
    from chaosops.roles.view import RoleView

LATEST = 12  # of each kind; a company has hundreds of log lines


def view_html(view: RoleView) -> str:
    told = f"step {view.step + 1} of {view.limit} · may {', '.join(view.rules.verbs[view.role])}"
    return box(heading(ROLE_NAMES[view.role], told), *_channels(view), *_documents(view))


def _channels(view: RoleView) -> Iterator[str]:
    if view.metrics:
        heads = ("service", "health", "replicas", "cpu %", "memory MB", "disk %")
        yield table(
            (*heads, "latency ms", "errors %"),
            ((each.service, each.health.word, *each[2:]) for each in view.metrics),
        )
    elif view.health:
        yield table(
            ("service", "health"), ((each.service, each.health.word) for each in view.health)
        )
    yield from _listed("alerts", ("minute", "service", "severity", "text"), view.alerts)
    yield from _listed(
        "acts of the fleet",
        ("#", "minute", "agent", "act", "on", "before", "after", "reason"),
        [(each.id or "", *each[:7]) for each in view.trace],
    )
    yield from _listed(
        "chat",
        ("minute", "from", "to", "said or did"),
        [(said.step, said.sender, said.to or "", said.text) for said in view.chat],
    )
    yield from _listed("logs", ("minute", "service", "level", "text"), view.logs, fold=True)
    for found in view.inspections:
        about = f"inspection of {found.service}, minute {found.step}"
        yield folded(about, table(("setting", "before", "after", "minute"), found.changes))
    for report in view.audits:
        heads = ("minute", "setting", "on", "before", "after", "order")
        yield folded(f"audit of {report.agent}, minute {report.step}", table(heads, report.acts))


def _documents(view: RoleView) -> Iterator[str]:
    rules = view.rules
    if rules.runbook:
        heads = ("fault", "signs", "cause", "remedy")
        yield folded(f"runbook, {len(rules.runbook)} pages", table(heads, rules.runbook))
    if rules.charter:
        clauses = table(("agent", "clauses"), rules.charter)
        yield folded(f"charter, {len(rules.charter)} agents", clauses)


def _listed(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[object]], *, fold: bool = False
) -> Iterator[str]:
    if not rows:
        return
    shown = rows[-LATEST:]
    note = f"the latest {len(shown)} of {len(rows)}" if len(rows) > len(shown) else str(len(rows))
    rows_html = table(heads, shown)
    yield folded(f"{title}, {note}", rows_html) if fold else heading(title, note) + rows_html
