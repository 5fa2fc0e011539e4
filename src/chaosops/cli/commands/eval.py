"""``chaosops eval``"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from chaosops.cli.budget import REPLIES_NAME, UNLIMITED, Budget
from chaosops.cli.options import (
    HERE,
    CommandLine,
    Count,
    EngineOptions,
    Folder,
    Mechanisms,
    Names,
    NoFigures,
    Pack,
    Rewards,
    Seed,
    Split,
)
from chaosops.cli.output import note, print, print_result, prints_to_stderr
from chaosops.cli.progress import Progress, worker_words
from chaosops.cli.real_time import permit_matrix
from chaosops.cli.repeatable import repeatable
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder, write_text
from chaosops.core.lock import locked
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.journal import Journal
from chaosops.evaluation.matrix import MATRICES, SEEDS_PER_FAILURE, SEEDS_PER_TIER, scenarios
from chaosops.evaluation.results import (
    COMPRESSED_NAME,
    DERIVED,
    JOURNAL_NAME,
    RESULTS_NAME,
    Results,
    save,
)
from chaosops.packs import loadable_packs, played_like, read_tiers
from chaosops.policies.registry import default_policies
from chaosops.report import figures, tables
from chaosops.report.written import derived_files, judged
from chaosops.rubrics.prices import parse_rewards
from chaosops.wire.recordings import write_recording
from chaosops.workers import Pool, open_workers

RESULTS = (RESULTS_NAME, COMPRESSED_NAME)
SAVED = "episodes"  # recordings, in OUT
_DEFAULTS = "; ".join(
    f"{pack.name}: {','.join(default_policies(pack.plays_like or pack.name))}"
    for pack in loadable_packs(real_time=True)
)
FIGURES = ("comparison_curve.png", "rogue_vs_mttr.png", "roc.png", "calibration.png")


@Parameter(name="*")
@dataclass(frozen=True)
class MatrixOptions:
    """Which policies play which scenarios.

    Attributes:
        policies: policies to evaluate; chaosops list names them
        team: a mixed team, such as oversight=random,others=heuristic; repeatable
        matrix: full: every failure on every tier; published: the episodes of the published table
        tiers: tiers to play
        seed_start: the first seed
    """

    policies: Annotated[Names | None, Parameter(show_default=_DEFAULTS)] = None
    team: Annotated[tuple[str, ...], Parameter(metavar="ROLE=POLICY,…")] = ()
    pack: Pack = None
    matrix: Annotated[str, Parameter(choices=MATRICES)] = "full"
    tiers: Names = tuple(Tier)
    seeds: Annotated[
        Count | None,
        Parameter(
            help="seeds for each failure and tier; of a split, for each tier",
            show_default=f"{SEEDS_PER_FAILURE}; of a split, {SEEDS_PER_TIER}",
        ),
    ] = None
    split: Split = None
    seed_start: Seed = 0
    mechanisms: Mechanisms = None

    def scenarios(self) -> list[Scenario]:
        return scenarios(
            self.matrix,
            pack=self.pack,
            split=self.split,
            tiers=read_tiers(self.tiers, "--tiers"),
            seeds=self.seeds,
            seed_start=self.seed_start,
            mechanisms=self.mechanisms or "",
        )

    def names_all(self) -> bool:
        return self.seeds is not None and bool(self.policies or self.team)

    def players(self, pack: str) -> list[str]:
        if self.policies is None and not self.team:
            return default_policies(played_like(pack).name)
        return [*(self.policies or ()), *self.team]


FULL = MatrixOptions()


def execute(
    *,
    options: MatrixOptions = FULL,
    where: EngineOptions = HERE,
    out: Folder = Path("results/eval"),
    no_figures: NoFigures = False,
    resume: bool = False,
    force: bool = False,
    side_by_side: Annotated[Count, Parameter(metavar="N")] = 64,
    save_episodes: bool = False,
    rewards: Rewards = "",
    budget: Budget = UNLIMITED,
    json: bool = False,
    command_line: CommandLine,
) -> None:
    """
    Args:
        out: folder of the results
        resume: go on with the evaluation that was stopped in OUT, with the same arguments
        force: replace the evaluation in OUT
        side_by_side: episodes played at once; a model is asked for all of them together
        save_episodes: save every episode for chaosops replay, in OUT/episodes
        json: print the summary as JSON, not as tables
    """
    matrix, own_rewards = options.scenarios(), parse_rewards(rewards)
    _require_usable(resume=resume, force=force, draw=not no_figures)
    permit_matrix(matrix[0].pack, is_little=options.names_all(), where=where)
    folder, players = open_folder(out), options.players(matrix[0].pack)
    with (
        locked(folder),
        open_workers(where.engine(), say=note) as pool,
        budget.account(players, folder / REPLIES_NAME, resume=resume).in_use(),
    ):
        _require_free(folder, resume=resume, force=force)
        clear = partial(_clear, folder)
        with Journal(folder / JOURNAL_NAME, resume=resume, say=note, clear=clear) as journal:
            results = evaluate_with_progress(
                players,
                matrix,
                repeatable(command_line),
                side_by_side=side_by_side,
                journal=journal,
                rewards=own_rewards,
                pool=pool,
            )
        saved = write_episodes(results, folder / SAVED) if save_episodes else []
        written = [save(results, folder)]
        report(results, folder, draw=not no_figures, written=written, as_json=json, pool=pool)
    for place in saved:
        print(f"episodes for chaosops replay: {place}", file=sys.stderr if json else None)


def _require_usable(*, resume: bool, force: bool, draw: bool) -> None:
    if resume and force:
        raise BadInput("--resume goes on with an evaluation and --force replaces it: choose one")
    if draw:
        figures.require_matplotlib()


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
    """Remove the files of an earlier evaluation, so that none is taken for a new one."""
    names = (JOURNAL_NAME, REPLIES_NAME, *RESULTS, *DERIVED, *FIGURES)
    for path in (*(folder / name for name in names), *folder.glob(f"{SAVED}/*/[0-9]*.json")):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise BadInput(f"cannot remove {path}: {error.strerror or error}") from None


def evaluate_with_progress(
    policies: list[str],
    matrix: list[Scenario],
    command: str,
    pool: Pool | None = None,
    **more: Any,
) -> Results:
    with Progress() as progress, prints_to_stderr():

        def tell(policy: str, done: int, total: int, turns: int) -> None:
            words = [f"{turns:,} turns", *worker_words(pool.tallies if pool else ())]
            progress.update(policy, done, total, ", ".join(words))

        progress.update("loading policies", 0, None)
        return evaluate(policies, matrix, command=command, progress=tell, pool=pool, **more)


def write_episodes(results: Results, folder: Path) -> list[Path]:
    """``POLICY/0001.json`` and so on, for every policy."""
    taken: set[str] = set()
    places = []
    for policy, episodes in results.episodes.items():
        place = open_folder(folder / _slug(policy, taken))
        places.append(place)
        for number, episode in enumerate(episodes, 1):
            write_episode(place / f"{number:04}.json", results, policy, episode)
    return places


def write_episode(path: Path, results: Results, policy: str, episode: Episode) -> None:
    manifest = {
        **{name: results.manifest[name] for name in ("command", "version", "commit")},
        **({"rewards": of} if (of := results.manifest.get("rewards")) else {}),
        "pack_hash": results.manifest["packs"][episode.scenario.pack]["hash"],
        "policy_status": results.manifest["policies"][policy],
    }
    write_recording(path, episode, manifest)


def _slug(policy: str, taken: set[str]) -> str:
    """A unique folder name for a policy.

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
    written: Sequence[Path] = (),
    as_json: bool = False,
    recorded: Sequence[Mapping[str, Any]] = (),
    pool: Pool | None = None,
) -> None:
    """Write the files that are derived from results.json and print the tables. Then name these
    files and those already ``written``. ``recorded``: rows of an earlier evaluation, for the
    printed table only."""
    monitors = judged(results, pool=pool)
    summary = results.summary()
    paths = list(written)
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
        note(tables.explained(warning, results.manifest))
    shown = [tables.markdown_table([*summary, *recorded]), tables.model_table(results)]
    if monitors is not None:
        shown.append(tables.oversight_report(monitors))
    names = [str(path) for path in paths]
    lines = ["\n\n".join(filter(None, shown)), f"\nwritten: {', '.join(names)}"]
    print_result({"summary": summary, "written": names}, lines, as_json=as_json)
