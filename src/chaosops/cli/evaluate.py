"""``chaosops eval``"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from chaosops.cli.output import open_console, print
from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder, write_text
from chaosops.core.printable import printable
from chaosops.core.scenario import Scenario
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.journal import JOURNAL_NAME, Journal
from chaosops.evaluation.judge import judge_monitors
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.results import Results, save
from chaosops.packs import load_pack, read_tier
from chaosops.recording import write_recording
from chaosops.report import figures, monitor_figures, monitor_tables, tables

CLASSIC_POLICIES = ["random", "keyword", "heuristic", "oracle"]
ARENA_POLICIES = ["random", "keyword", "heuristic", "last_toucher", "oracle"]


def execute(args: argparse.Namespace) -> int:
    tiers = list(dict.fromkeys(read_tier(name) for name in args.tiers))
    if not tiers:
        raise BadInput("--tiers needs at least one of easy, medium, hard")
    is_arena = bool(load_pack(args.pack).splits)
    matrix = scenarios(
        args.matrix,
        pack=args.pack,
        split=args.split or ("test" if is_arena else ""),
        tiers=tiers,
        seeds=args.seeds,
        seed_start=args.seed_start,
    )
    policies = args.policies
    if policies is None and not args.team:
        policies = ARENA_POLICIES if is_arena else CLASSIC_POLICIES
    policies = [*(policies or []), *args.team]
    if not args.no_figures:
        figures.require_matplotlib()
    folder = open_folder(args.out)
    with Journal(folder / JOURNAL_NAME, resume=args.resume, say=_say) as book:
        results = evaluate_with_progress(
            policies,
            matrix,
            _without_resume(args.command_line),
            side_by_side=args.side_by_side,
            journal=book,
        )
    saved = save_episodes(results, folder / "episodes") if args.save_episodes else []
    report(results, folder, draw=not args.no_figures)
    for place in saved:
        print(f"episodes for chaosops replay: {place}")
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _without_resume(command_line: str) -> str:
    """The files of a resumed evaluation are those of one that was never stopped.

    >>> _without_resume("chaosops eval --resume --pack arena")
    'chaosops eval --pack arena'
    """
    words = command_line.split(" ")
    # argparse takes --res for it too
    kept = [word for word in words if len(word) < 3 or not "--resume".startswith(word)]
    return " ".join(kept)


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
    paths = save(results, folder)
    summary = results.summary()
    text = tables.markdown_report(results)
    monitors = None
    if results.is_arena():
        monitors = judge_monitors(results)
        paths.append(folder / "monitor.json")
        write_text(paths[-1], json.dumps(monitors.to_wire(), indent=1) + "\n")
        text += "\n" + monitor_tables.markdown_report(monitors) + "\n"
    paths.append(folder / "table.md")
    write_text(paths[-1], printable(text))
    if draw:
        paths.append(figures.comparison_curve(summary, folder / "comparison_curve.png"))
        paths.append(figures.rogue_vs_mttr(summary, folder / "rogue_vs_mttr.png"))
        if monitors is not None:
            roc, calibration = monitors.roc_curves(), monitors.calibration_curves()
            paths.append(monitor_figures.roc_figure(roc, folder / "roc.png"))
            paths.append(
                monitor_figures.calibration_figure(calibration, folder / "calibration.png")
            )
    print(tables.markdown_table(summary))
    if models := tables.model_table(results):
        print("\n" + models)
    if monitors is not None:
        print("\n" + monitor_tables.markdown_report(monitors))
    for warning in tables.warnings(results):
        print(warning, file=sys.stderr)
    print("\nwritten: " + ", ".join(str(path) for path in paths))
