"""``chaosops recount``: results.json holds all that its figures are computed from."""

from __future__ import annotations

import argparse

from chaosops.cli.evaluate import report_figures
from chaosops.cli.verify import told_progress
from chaosops.core.files import open_folder
from chaosops.evaluation.verify import stored_results
from chaosops.report import figures


def execute(args: argparse.Namespace) -> int:
    if not args.no_figures:
        figures.require_matplotlib()
    results = stored_results(args.folder, told_progress(args.folder))
    folder = open_folder(args.out or args.folder)
    report_figures(results, folder, draw=not args.no_figures)
    return 0
