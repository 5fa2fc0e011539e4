"""What a submission's owner gets: a folder like that of ``chaosops eval``, and a signature."""

from __future__ import annotations

import json

from chaosops.core.files import write_text
from chaosops.evaluation.evaluate import results_of
from chaosops.evaluation.journal import JOURNAL_NAME, Journal
from chaosops.evaluation.judge import judge_monitors
from chaosops.evaluation.results import save
from chaosops.evaluation.secret import Secret
from chaosops.evaluation.signature import sign
from chaosops.report import monitor_tables, tables
from chaosops.server.submission_run import SubmissionRun


def write_results(run: SubmissionRun, secret: Secret, command: str) -> None:
    """Everything that a reader can recount, then the signature over it."""
    with Journal(run.place / JOURNAL_NAME) as journal:
        results = results_of(
            run.plan.team,
            run.episodes,
            run.status(),
            command=command,
            journal=journal,
            notes={"submission": run.plan.published()},
        )
    save(results, run.place)
    monitors = judge_monitors(results)
    write_text(run.place / "monitor.json", json.dumps(monitors.to_wire(), indent=1) + "\n")
    text = tables.markdown_report(results) + "\n" + monitor_tables.markdown_report(monitors) + "\n"
    write_text(run.place / "table.md", text)
    sign(run.place, secret)
