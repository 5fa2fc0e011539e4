"""What a submission's owner gets: a folder like that of ``chaosops eval``, and a signature."""

from __future__ import annotations

from chaosops.core.files import write_text
from chaosops.evaluation.evaluate import results_of
from chaosops.evaluation.journal import JOURNAL_NAME, Journal
from chaosops.evaluation.results import save
from chaosops.evaluation.secret import Secret
from chaosops.evaluation.signature import sign
from chaosops.report.written import derived_files, judged
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
    for name, text in derived_files(results, judged(results)).items():
        write_text(run.place / name, text)
    sign(run.place, secret)
