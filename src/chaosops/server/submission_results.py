"""The results of a submission: a folder as ``chaosops eval`` writes it, and a signature."""

from __future__ import annotations

from chaosops.core.files import write_text
from chaosops.evaluation.evaluate import results_of
from chaosops.evaluation.journal import Journal
from chaosops.evaluation.results import JOURNAL_NAME, save
from chaosops.evaluation.secret import Secret
from chaosops.evaluation.signature import sign
from chaosops.report.written import derived_files, judged
from chaosops.server.submission_run import SubmissionRun


def write_results(run: SubmissionRun, secret: Secret, command: str) -> None:
    """Writes results and derived files, then signs them."""
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
    for name, text in derived_files(results, judged(results)).items():
        write_text(run.place / name, text)
    sign(run.place, secret)
