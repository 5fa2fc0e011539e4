"""``chaosops eval``"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from chaosops.cli.output import open_console, print
from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder, write_text
from chaosops.core.lock import locked
from chaosops.core.scenario import Scenario
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.journal import JOURNAL_NAME, Journal
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.results import COMPRESSED_NAME, DERIVED, RESULTS_NAME, Results, save
from chaosops.packs import read_tier
from chaosops.policies.registry import default_policies
from chaosops.report import figures, monitor_figures, monitor_tables, tables
from chaosops.report.written import derived_files, judged
from chaosops.wire.recordings import write_recording

RESULTS = (RESULTS_NAME, COMPRESSED_NAME)
SAVED = "episodes"  # recordings of language models, in OUT
FIGURES = ("comparison_curve.png", "rogue_vs_mttr.png", "roc.png", "calibration.png")


def execute(args: argparse.Namespace) -> int:
    tiers = list(dict.fromkeys(read_tier(name) for name in args.tiers))
    if not tiers:
        raise BadInput("--tiers needs at least one of easy, medium, hard")
    matrix = scenarios(
        args.matrix,
        pack=args.pack,
        split=args.split,
        tiers=tiers,
        seeds=args.seeds,
        seed_start=args.seed_start,
    )
    policies = args.policies
    if policies is None and not args.team:
        policies = default_policies(matrix[0].pack)
    policies = [*(policies or []), *args.team]
    if not args.no_figures:
        figures.require_matplotlib()
    folder = open_folder(args.out)
    with locked(folder):
        _require_free(folder, resume=args.resume, force=args.force)
        path = folder / JOURNAL_NAME
        clear = partial(_clear, folder)
        with Journal(path, resume=args.resume, say=_say, clear=clear) as book:
            results = evaluate_with_progress(
                policies,
                matrix,
                _repeatable(args.command_line),
                side_by_side=args.side_by_side,
                journal=book,
            )
        saved = save_episodes(results, folder / SAVED) if args.save_episodes else []
        report(results, folder, draw=not args.no_figures)
    for place in saved:
        print(f"episodes for chaosops replay: {place}")
    return 0


def _require_free(folder: Path, *, resume: bool, force: bool) -> None:
    held = [name for name in (*RESULTS, JOURNAL_NAME) if (folder / name).exists()]
    if held and not (resume or force):
        raise BadInput(
            f"{folder} holds an evaluation ({', '.join(held)}); --resume goes on with it, "
            "--force replaces it, or choose another --out"
        )
    if resume and held and JOURNAL_NAME not in held:
        raise BadInput(
            f"{folder} holds results without their journal, which --resume cannot go on with; "
            "--force replaces them, or choose another --out"
        )


def _clear(folder: Path) -> None:
    """What a former evaluation left there must not be taken for files of the new one."""
    names = (JOURNAL_NAME, *RESULTS, *DERIVED, *FIGURES)
    for path in (*(folder / name for name in names), *folder.glob(f"{SAVED}/*/[0-9]*.json")):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise BadInput(f"cannot remove {path}: {error.strerror or error}") from None


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _repeatable(command_line: str) -> str:
    """The files of a resumed evaluation are those of one that was never stopped.

    >>> _repeatable("chaosops eval --resume --out 'my results'")
    "chaosops eval --out 'my results'"
    """
    # argparse takes --res for it too
    again = [option[:n] for option in ("--resume", "--force") for n in range(3, len(option) + 1)]
    return shlex.join(word for word in shlex.split(command_line) if word not in again)


def evaluate_with_progress(
    policies: list[str],
    matrix: list[Scenario],
    command: str,
    *,
    side_by_side: int = 64,
    journal: Journal | None = None,
) -> Results:
    """The bar goes to stderr, so that stdout stays the report."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    console = open_console(stderr=True)
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

        return evaluate(
            policies,
            matrix,
            command=command,
            progress=progress,
            side_by_side=side_by_side,
            journal=journal,
        )


def save_episodes(results: Results, folder: Path) -> list[Path]:
    """``POLICY/0001.json`` and so on, for every policy that asked a language model."""
    taken: set[str] = set()
    places = []
    for policy, episodes in results.episodes.items():
        if not any(episode.exchanges for episode in episodes):
            continue
        place = open_folder(folder / _slug(policy, taken))
        places.append(place)
        for stale in place.glob("[0-9]*.json"):
            stale.unlink()
        for number, episode in enumerate(episodes, 1):
            manifest = {
                "command": results.manifest["command"],
                "version": results.manifest["version"],
                "commit": results.manifest["commit"],
                "pack_hash": results.manifest["packs"][episode.scenario.pack]["hash"],
                "policy_status": results.manifest["policies"][policy],
            }
            write_recording(place / f"{number:04}.json", episode, manifest)
    return places


def _slug(policy: str, taken: set[str]) -> str:
    """A folder name of its own for any policy's name.

    >>> taken = set()
    >>> [_slug(name, taken) for name in ("hf:Qwen/Qwen3-4B", "hf:Qwen:Qwen3-4B", "../..")]
    ['hf-Qwen-Qwen3-4B', 'hf-Qwen-Qwen3-4B-2', 'policy']
    """
    plain = re.sub(r"[^A-Za-z0-9._=-]+", "-", policy).strip("-.")[:80] or "policy"
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain}-{number}"
    taken.add(name)
    return name


def report(results: Results, folder: Path, *, draw: bool) -> None:
    """Write every file, print the tables and say where the files are."""
    path = save(results, folder)
    report_figures(results, folder, draw=draw, also=[path])


def report_figures(
    results: Results, folder: Path, *, draw: bool, also: Sequence[Path] = ()
) -> None:
    """The same without results.json."""
    monitors = judged(results)
    summary = results.summary()
    paths = list(also)
    for name, text in derived_files(results, monitors).items():
        paths.append(folder / name)
        write_text(paths[-1], text)
    if draw:
        comparison, rogue, roc, calibration = (folder / name for name in FIGURES)
        paths.append(figures.comparison_curve(summary, comparison))
        paths.append(figures.rogue_vs_mttr(summary, rogue))
        if monitors is not None:
            paths.append(monitor_figures.roc_figure(monitors.roc_curves(), roc))
            curves = monitors.calibration_curves()
            paths.append(monitor_figures.calibration_figure(curves, calibration))
    print(tables.markdown_table(summary))
    if models := tables.model_table(results):
        print("\n" + models)
    if monitors is not None:
        print("\n" + monitor_tables.markdown_report(monitors))
    for warning in tables.warnings(results):
        print(warning, file=sys.stderr)
    print("\nwritten: " + ", ".join(str(path) for path in paths))
