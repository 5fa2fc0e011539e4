"""``chaosops recount``: results.json holds all that its figures are computed from."""

from __future__ import annotations

from functools import partial

from chaosops.cli.commands.eval import RESULTS, report
from chaosops.cli.options import Folder, NoFigures
from chaosops.cli.progress import Progress
from chaosops.core.files import open_folder
from chaosops.evaluation.verify import stored_results
from chaosops.report import figures


def execute(folder: Folder, /, *, out: Folder | None = None, no_figures: NoFigures = False) -> None:
    """
    Args:
        folder: folder of an evaluation, or results.json in it
        out: folder of the new figures [default: FOLDER, whose figures are replaced]
    """
    if folder.name in RESULTS:
        folder = folder.parent
    if not no_figures:
        figures.require_matplotlib()
    with Progress() as progress:
        results = stored_results(folder, partial(progress.update, str(folder)))
    report(results, open_folder(out or folder), draw=not no_figures)
