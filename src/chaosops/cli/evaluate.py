"""``chaosops eval``"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.results import Results, open_folder, save, write_text
from chaosops.packs import read_tier
from chaosops.report import figures, tables


def execute(args: argparse.Namespace) -> int:
    tiers = list(dict.fromkeys(read_tier(name) for name in args.tiers))
    if not tiers:
        raise BadInput("--tiers needs at least one of easy, medium, hard")
    matrix = scenarios(
        args.matrix, pack=args.pack, tiers=tiers, seeds=args.seeds, seed_start=args.seed_start
    )
    if not args.no_figures:
        figures.require_matplotlib()
    folder = open_folder(args.out)
    results = evaluate_with_progress(args.policies, matrix, args.command_line)
    report(results, folder, draw=not args.no_figures)
    return 0


def evaluate_with_progress(policies: list[str], matrix: list[Scenario], command: str) -> Results:
    """The bar goes to stderr, so that stdout stays the report."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        tasks = {name: bar.add_task(name, total=len(matrix)) for name in policies}

        def progress(policy: str, done: int, total: int) -> None:
            bar.update(tasks[policy], completed=done)

        return evaluate(policies, matrix, command=command, progress=progress)


def report(results: Results, folder: Path, *, draw: bool) -> None:
    """Write every file, print the table and say where the files are."""
    paths = save(results, folder)
    text = tables.markdown_report(results)
    table_path = folder / "table.md"
    write_text(table_path, text)
    paths.append(table_path)
    if draw:
        summary = results.summary()
        paths.append(figures.comparison_curve(summary, folder / "comparison_curve.png"))
        paths.append(figures.rogue_vs_mttr(summary, folder / "rogue_vs_mttr.png"))
    print(tables.markdown_table(results.summary()))
    for warning in tables.warnings(results):
        print(warning, file=sys.stderr)
    print("\nwritten: " + ", ".join(str(path) for path in paths))
