"""Documents, audits and inspections as lines of a frame."""

from __future__ import annotations

from itertools import zip_longest

from rich.text import Text

from chaosops.core.telemetry import AuditReport, Inspection
from chaosops.report.acts import change_words, clock
from chaosops.report.frames import Frame


def document_lines(frame: Frame) -> list[Text]:
    """The pages and clauses that a reader would open now."""
    pages = [
        Text.assemble(("runbook ", "dim"), (page.name, "bold"), f": {page.cause}; {page.remedy}")
        for page in frame.relevant.pages
    ]
    clauses = [
        Text.assemble(("charter ", "dim"), (agent, "magenta"), f": {text}")
        for agent, text in frame.relevant.clauses
    ]
    # Both kinds get their share of a short list.
    return [line for pair in zip_longest(pages, clauses) for line in pair if line is not None]


def finding_lines(found: Inspection | AuditReport) -> list[Text]:
    """One line for each thing that was found."""
    if isinstance(found, AuditReport):
        return [
            Text.assemble(
                (found.agent, "magenta"),
                f" signed {clock(act.at)} {act.attribute} of {act.target} "
                f"{change_words(act.before, act.after)}; order: {act.order}",
            )
            for act in found.acts
        ]
    busy = dict(found.utilisation)
    return [
        Text(
            f"{found.service} {clock(change.at)} {change.attribute} "
            f"{change_words(change.before, change.after)}"
            + (f", utilisation {busy[change.at]}%" if change.at in busy else "")
        )
        for change in found.changes
    ]
