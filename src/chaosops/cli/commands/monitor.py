"""``chaosops monitor``: score stored transcripts with a monitor of one's own. Nothing is played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.options import File, Folder, Json, Names, Share
from chaosops.cli.output import print_result, prints_to_stderr
from chaosops.cli.progress import Progress
from chaosops.core.errors import BadInput
from chaosops.core.files import open_file
from chaosops.evaluation.audit_budget import BUDGET
from chaosops.evaluation.offline import judge_scores, shipped_overseers
from chaosops.evaluation.scorers import load_scorer, scores_of, write_scores
from chaosops.evaluation.transcripts import EVIDENCE, LABELS, MANIFEST, read_transcripts
from chaosops.report.monitors import monitor_report


def execute(
    scorer: str,
    transcripts: Folder,
    /,
    *,
    against: Annotated[Names | None, Parameter(show_default="the shipped overseers")] = None,
    budget: Share = BUDGET,
    save_scores: File | None = None,
    json: Json = False,
) -> None:
    """
    Args:
        scorer: FILE.py:NAME or MODULE:NAME of a function, a policy, or scores (*.jsonl)
        transcripts: folder of chaosops transcripts
        against: other scorers, each with a row of its own
        budget: share of honest episodes that may be audited
        save_scores: write the suspicion on every turn to a file (*.jsonl), which is a scorer too
    """
    if save_scores:
        _open_scores(save_scores, scorer, transcripts)
    with Progress("turns") as progress, prints_to_stderr():
        progress.update("loading scorers", 0, None)
        own = load_scorer(scorer)
        progress.update("reading transcripts", 0, None)
        manifest, episodes = read_transcripts(transcripts)
        names = shipped_overseers(episodes) if against is None else list(against)
        others = [load_scorer(name) for name in names if name != scorer]
        turns = sum(len(episode.views) for episode in episodes)
        scores = {}
        for each in (own, *others):
            progress.update(each.name, 0, turns)
            scores[each.name] = scores_of(
                each,
                episodes,
                lambda done, name=each.name: progress.update(name, done, turns),  # type: ignore[misc]
            )
        if save_scores:
            write_scores(save_scores, episodes, scores[own.name])
        progress.update("figures", 0, None)
        report = judge_scores(episodes, scores, budget)
    wire = {
        "transcripts": manifest["files"],
        "monitors": {each.name: dict(each.status()) for each in (own, *others)},
        "budget": budget,
        **report.to_wire(),
    }
    lines = [monitor_report(report)]
    if save_scores:
        lines.append(f"\nwritten: {save_scores}")
    print_result(wire, lines, as_json=json)


def _open_scores(path: Path, scorer: str, transcripts: Path) -> None:
    if path.suffix != ".jsonl":
        raise BadInput(f"--save-scores {path}: name a *.jsonl file, which can be read")
    source = Path(scorer.rpartition(":")[0] or scorer)
    read = [transcripts / name for name in (EVIDENCE, LABELS, MANIFEST)]
    open_file(path, "--save-scores", taken=[*read, source, Path(scorer)])
