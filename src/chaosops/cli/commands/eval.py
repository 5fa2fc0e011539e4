"""``chaosops eval``"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from chaosops.cli.options import (
    TIERS,
    CommandLine,
    Folder,
    Names,
    NoFigures,
    Pack,
    Seed,
    Split,
    whole,
)
from chaosops.cli.output import print, print_json
from chaosops.cli.progress import Progress
from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder, write_text
from chaosops.core.lock import locked
from chaosops.core.scenario import Scenario
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.journal import Journal
from chaosops.evaluation.matrix import MATRICES, scenarios
from chaosops.evaluation.results import (
    COMPRESSED_NAME,
    DERIVED,
    JOURNAL_NAME,
    RESULTS_NAME,
    Results,
    save,
)
from chaosops.packs import PACKS, read_tier
from chaosops.policies.registry import default_policies
from chaosops.report import figures, tables
from chaosops.report.written import derived_files, judged
from chaosops.wire.recordings import write_recording

RESULTS = (RESULTS_NAME, COMPRESSED_NAME)
SAVED = "episodes"  # recordings, in OUT
FIGURES = ("comparison_curve.png", "rogue_vs_mttr.png", "roc.png", "calibration.png")


def execute(
    *,
    policies: Annotated[
        Names | None,
        Parameter(show_default="; ".join(f"{p}: {','.join(default_policies(p))}" for p in PACKS)),
    ] = None,
    team: Annotated[
        tuple[str, ...],
        Parameter(
            metavar="ROLE=POLICY,…",
            help="a mixed team, such as oversight=random,others=heuristic; repeatable",
        ),
    ] = (),
    pack: Pack = None,
    matrix: Annotated[
        str,
        Parameter(
            choices=MATRICES,
            help="full: every failure on every tier; published: the failures and seeds of the "
            "published table",
        ),
    ] = "full",
    tiers: Names = TIERS,
    seeds: Annotated[
        int | None,
        whole(1, help="per failure and tier; arena: per tier", show_default="5; arena: 200"),
    ] = None,
    split: Split = None,
    seed_start: Annotated[Seed, Parameter(help="the first seed")] = 0,
    out: Folder = Path("results/eval"),
    no_figures: NoFigures = False,
    resume: Annotated[
        bool,
        Parameter(help="go on with the evaluation that was stopped in OUT, with equal arguments"),
    ] = False,
    force: Annotated[bool, Parameter(help="replace the evaluation that OUT holds")] = False,
    side_by_side: Annotated[
        int,
        whole(1, metavar="N", help="episodes played at once; more ask a model in larger batches"),
    ] = 64,
    save_episodes: Annotated[
        bool,
        Parameter(help="save every episode for chaosops replay, in OUT/episodes"),
    ] = False,
    json: Annotated[bool, Parameter(help="print the summary as JSON, not as tables")] = False,
    command_line: CommandLine,
) -> int:
    wanted = list(dict.fromkeys(read_tier(name) for name in tiers))
    if not wanted:
        raise BadInput("--tiers needs at least one of easy, medium, hard")
    if resume and force:
        raise BadInput("--resume goes on with an evaluation and --force replaces it: choose one")
    played = scenarios(
        matrix,
        pack=pack,
        split=split or None,
        tiers=wanted,
        seeds=seeds,
        seed_start=seed_start,
    )
    if policies is None and not team:
        policies = tuple(default_policies(played[0].pack))
    if not no_figures:
        figures.require_matplotlib()
    folder = open_folder(out)
    with locked(folder):
        _require_free(folder, resume=resume, force=force)
        clear = partial(_clear, folder)
        with Journal(folder / JOURNAL_NAME, resume=resume, say=_say, clear=clear) as book:
            results = evaluate_with_progress(
                [*(policies or ()), *team],
                played,
                _repeatable(command_line),
                side_by_side=side_by_side,
                journal=book,
            )
        saved = write_episodes(results, folder / SAVED) if save_episodes else []
        report(results, folder, draw=not no_figures, as_json=json)
    for place in saved:
        print(f"episodes for chaosops replay: {place}", file=sys.stderr if json else None)
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
    again = ("--resume", "--force")
    return shlex.join(word for word in shlex.split(command_line) if word not in again)


def evaluate_with_progress(
    policies: list[str],
    matrix: list[Scenario],
    command: str,
    *,
    side_by_side: int = 64,
    journal: Journal | None = None,
) -> Results:
    with Progress() as progress:

        def tell(policy: str, done: int, total: int, turns: int) -> None:
            progress.update(policy, done, total, f"{turns:,} turns")

        progress.update("loading policies", 0, None)
        return evaluate(
            policies,
            matrix,
            command=command,
            progress=tell,
            side_by_side=side_by_side,
            journal=journal,
        )


def write_episodes(results: Results, folder: Path) -> list[Path]:
    """``POLICY/0001.json`` and so on, for every policy."""
    taken: set[str] = set()
    places = []
    for policy, episodes in results.episodes.items():
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


def report(
    results: Results,
    folder: Path,
    *,
    draw: bool,
    as_json: bool = False,
    recorded: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write every file, print the tables and say where the files are. ``recorded``: rows of an
    earlier evaluation, for the printed table alone."""
    path = save(results, folder)
    report_figures(results, folder, draw=draw, also=[path], as_json=as_json, recorded=recorded)


def report_figures(
    results: Results,
    folder: Path,
    *,
    draw: bool,
    also: Sequence[Path] = (),
    as_json: bool = False,
    recorded: Sequence[Mapping[str, Any]] = (),
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
            paths.append(figures.roc_figure(monitors.roc_curves(), roc))
            curves = monitors.calibration_curves()
            paths.append(figures.calibration_figure(curves, calibration))
    for warning in tables.warnings(results):
        print(warning, file=sys.stderr)
    if as_json:
        print_json({"summary": summary, "written": [str(path) for path in paths]})
        return
    print(tables.markdown_table([*summary, *recorded]))
    if models := tables.model_table(results):
        print("\n" + models)
    if monitors is not None:
        print("\n" + tables.oversight_report(monitors))
    print("\nwritten: " + ", ".join(str(path) for path in paths))
