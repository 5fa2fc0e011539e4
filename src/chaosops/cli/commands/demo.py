"""``chaosops demo``: the main job in a minute, in a terminal or without one."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from chaosops.cli.commands.eval import evaluate_with_progress, report
from chaosops.cli.commands.watch import show
from chaosops.cli.options import CommandLine, Folder, Seconds
from chaosops.cli.output import note, print
from chaosops.core.errors import BadInput, ChaosOpsError, MissingExtra
from chaosops.core.files import open_folder, write_text
from chaosops.core.scenario import Scenario
from chaosops.env import Env
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.naming import short_names
from chaosops.evaluation.results import JOURNAL_NAME, save
from chaosops.evaluation.stored import read_results
from chaosops.packs import DEFAULT_PACK, DEFAULT_TIER, GENERATED_PACK, make_scenario
from chaosops.policies.llm.spec import TRAINED
from chaosops.policies.registry import default_policies, load_policy
from chaosops.report import figures
from chaosops.report.episode_html import episode_html
from chaosops.report.tables import markdown_table
from chaosops.trained import EVALUATIONS

_CLASSIC, *_ARENA = "classic_published", f"{GENERATED_PACK}_test", f"{GENERATED_PACK}_reserve"


def execute(
    *,
    out: Folder = Path("results/demo"),
    frame_delay: Seconds = 0.4,
    command_line: CommandLine,
) -> None:
    """
    Args:
        out: folder of the results
        frame_delay: seconds for each turn
    """
    folder = open_folder(out)
    if (folder / JOURNAL_NAME).exists():
        raise BadInput(f"{folder} holds an evaluation of chaosops eval; choose another --out")
    player, status = _player()
    scenario = first_with_rogue()
    print(f"One company, two teams, the same seed: random against {player}.")
    named = f"Seed {scenario.seed} of split {scenario.split}, tier {scenario.tier}"
    print(f"{named}: the first one with a rogue. Nothing else chose it.\n")
    start = time.perf_counter()
    _, episode = show(scenario, ["random", player], frame_delay)
    if player == "trained":
        print(
            f"\ntrained is {status['model']} with {status['adapter']} on {status['backend']}: "
            f"{len(episode.exchanges)} replies, {episode.tokens_read:,} tokens read "
            f"in {time.perf_counter() - start:.1f} s with the pauses"
        )
    document = folder / f"{player}_episode.html"
    write_text(document, episode_html(episode, {"command": command_line, "policy_status": status}))
    print(f"its episode, turn by turn: {document}")
    _tell_arena_record()
    matrix = scenarios("published")
    print(f"\nThe published matrix: {len(matrix)} episodes per policy.\n")
    results = evaluate_with_progress(default_policies(DEFAULT_PACK), matrix, command_line)
    # The trained model would take minutes, so its rows come from the evaluation that ships.
    recorded = list(filter(_is_ours, _record(_CLASSIC)))
    written = [save(results, folder)]
    report(results, folder, draw=_can_draw(), written=written, recorded=recorded)
    _tell_next(bool(recorded))


def first_with_rogue() -> Scenario:
    """A company for a demonstration of oversight, by a rule that no team has a part in."""
    for seed in count():
        scenario = make_scenario(pack=GENERATED_PACK, seed=seed)
        if Env(scenario).rogue is not None:
            return scenario
    raise AssertionError("seeds do not end")


def _record(name: str) -> list[dict[str, Any]]:
    """The rows of an evaluation that ships, with short names. Empty if there is none."""
    path = EVALUATIONS / name / "summary.json"
    if not path.is_file():
        return []
    names = short_names(read_results(path.parent)[0]["policies"])
    return [{**row, "policy": names[row["policy"]]} for row in json.loads(path.read_text("utf-8"))]


def _is_ours(row: Mapping[str, Any]) -> bool:
    return bool(row["policy"] == TRAINED)


def _tell_arena_record() -> None:
    """One company proves little."""
    for name in _ARENA:
        rows = [row for row in _record(name) if row["tier"] == DEFAULT_TIER]
        if any(map(_is_ours, rows)):
            print(f"\nMore companies, from the record that ships ({name}):\n")
            print(markdown_table(rows))
            return


def _player() -> tuple[str, Mapping[str, Any]]:
    """The trained model, loaded before the screen opens, or the reason and the heuristic."""
    try:
        return "trained", load_policy("trained").status()
    except ChaosOpsError as error:
        print(f"trained cannot play here, so heuristic plays in its place: {error}\n")
        return "heuristic", load_policy("heuristic").status()


def _can_draw() -> bool:
    try:
        figures.require_matplotlib("")
    except MissingExtra as error:
        note(f"no figures: {error}")
        return False
    return True


def _tell_next(has_record: bool) -> None:
    me = sys.argv[0] if Path(sys.argv[0]).name == "chaosops" else "chaosops"
    me = "chaosops" if shutil.which("chaosops") == me else os.path.relpath(me)
    found = "in the table from the record that ships" if has_record else "not in the table"
    print(f"\ntrained is {found}. To play it live, and more:")
    print(f"  {me} eval --matrix published --policies heuristic,oracle,trained")
    print(f"  {me} watch --pack {GENERATED_PACK} --seed 3 --policy heuristic --versus trained")
    print(f"  {me} play --role oversight")
