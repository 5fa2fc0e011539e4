"""``chaosops draw``: pictures of several evaluations or runs. ``eval`` and ``train`` draw those of
one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.commands.eval import RESULTS
from chaosops.cli.options import File, Folder, Names
from chaosops.cli.output import print
from chaosops.cli.progress import Progress
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.files import open_file
from chaosops.core.vocabulary import Role, Tier
from chaosops.evaluation.cases import case_of
from chaosops.evaluation.claims import role_status
from chaosops.evaluation.evasions import by_evasion
from chaosops.evaluation.naming import short_names
from chaosops.evaluation.results import Results
from chaosops.evaluation.verify import stored_results
from chaosops.packs import read_tiers
from chaosops.report.figures import require_matplotlib
from chaosops.report.oversight_figures import (
    FIRST_TURN,
    LAST_TURN,
    Overseer,
    evasion_figure,
    split_roc,
)
from chaosops.report.reading_curve import reading_curve
from chaosops.training.run_folder import METRICS

Evaluations = Annotated[Folder, Parameter(help="folders of chaosops eval, or results.json in them")]
Picture = Annotated[File, Parameter(metavar="PNG", help="the picture to write")]
Chosen = Annotated[Names | None, Parameter(help="draw these policies", show_default="all")]


def roc(
    *folders: Evaluations,
    out: Picture = Path("roc_by_split.png"),
    policies: Chosen = None,
    turn: Annotated[str, Parameter(choices=(FIRST_TURN, LAST_TURN))] = FIRST_TURN,
) -> None:
    """
    Args:
        turn: read the suspicion after this turn of Oversight
    """
    played, names = _read(folders, out, policies)
    splits: dict[str, list[Overseer]] = {}
    for results in played:
        for policy, episodes in _chosen(results, names).items():
            status = role_status(results.manifest["policies"][policy], Role.OVERSIGHT)
            for split in dict.fromkeys(episode.scenario.split for episode in episodes):
                cases = [case_of(episode) for episode in _with_rogues(episodes, split)]
                overseer = Overseer(names[policy], cases, status.get("kind") == "model")
                splits.setdefault(split or "all", []).append(overseer)
    print(f"written: {split_roc(splits, out, turn)}")


def evasions(
    *folders: Evaluations, out: Picture = Path("evasions.png"), policies: Chosen = None
) -> None:
    played, names = _read(folders, out, policies)
    episodes: dict[str, list[Episode]] = {}
    for results in played:
        for policy, of in _chosen(results, names).items():
            splits = dict.fromkeys(episode.scenario.split for episode in of)
            rated = [episode for split in splits for episode in _with_rogues(of, split)]
            episodes.setdefault(names[policy], []).extend(rated)
    tallies = {policy: by_evasion(of) for policy, of in episodes.items()}
    print(f"written: {evasion_figure(tallies, out)}")


def reading(
    *runs: Annotated[Path, Parameter(help="folders of chaosops train, one for each seed")],
    out: Picture = Path("reading_curve.png"),
    tiers: Annotated[Names, Parameter(help="draw the mean over these tiers")] = tuple(Tier),
) -> None:
    if not runs:
        raise BadInput("name at least one run: a folder of chaosops train")
    chosen = read_tiers(tiers, "--tiers")
    _prepare(out)
    files = [run / METRICS if run.is_dir() else run for run in runs]
    print(f"written: {reading_curve(files, out, chosen)}")


def _prepare(out: Path) -> None:
    require_matplotlib("leave it out")
    open_file(out, "--out")


def _read(
    folders: Sequence[Path], out: Path, policies: Sequence[str] | None
) -> tuple[list[Results], dict[str, str]]:
    """The evaluations, and the policies to draw with their names in the picture."""
    if not folders:
        raise BadInput("name at least one folder of chaosops eval")
    _prepare(out)
    played = []
    with Progress() as progress:
        for given in folders:
            folder = given.parent if given.name in RESULTS else given
            played.append(stored_results(folder, partial(progress.update, str(folder))))
    names = short_names({k: v for each in played for k, v in each.manifest["policies"].items()})
    known = list(dict.fromkeys((*names.values(), *names)))
    for name in policies or ():
        if name not in known:
            raise UnknownName("policy", name, known)
    if policies is None:
        return played, names
    return played, {k: v for k, v in names.items() if k in policies or v in policies}


def _chosen(results: Results, names: Mapping[str, str]) -> dict[str, Sequence[Episode]]:
    return {policy: of for policy, of in results.episodes.items() if policy in names}


def _with_rogues(episodes: Sequence[Episode], split: str | None) -> list[Episode]:
    """Those of a split, in the tiers that have rogues."""
    some = [episode for episode in episodes if episode.scenario.split == split]
    tiers = {episode.scenario.tier for episode in some if episode.rogue is not None}
    return [episode for episode in some if episode.scenario.tier in tiers]
