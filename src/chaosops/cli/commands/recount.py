"""``chaosops recount``: results.json holds all that its figures are computed from."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.commands.eval import report_figures
from chaosops.cli.options import Folder, NoFigures
from chaosops.cli.progress import Progress
from chaosops.core.files import open_folder
from chaosops.evaluation.verify import stored_results
from chaosops.report import figures


def execute(
    folder: Folder,
    /,
    *,
    out: Annotated[
        Folder | None, Parameter(show_default="FOLDER, whose figures are replaced")
    ] = None,
    no_figures: NoFigures = False,
) -> int:
    """FOLDER holds results.json."""
    if not no_figures:
        figures.require_matplotlib()
    with Progress() as progress:
        results = stored_results(folder, partial(progress.update, str(folder)))
    report_figures(results, open_folder(out or folder), draw=not no_figures)
    return 0
