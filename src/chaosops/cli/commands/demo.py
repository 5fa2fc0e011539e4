"""``chaosops demo``: the main job in a minute, in a terminal or without one."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chaosops.cli.commands.eval import evaluate_with_progress, report
from chaosops.cli.commands.watch import show
from chaosops.cli.options import CommandLine, Folder, Seconds
from chaosops.cli.output import note, print
from chaosops.core.errors import BadInput, ChaosOpsError, MissingExtra
from chaosops.core.files import open_folder, write_text
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.results import JOURNAL_NAME, save
from chaosops.packs import DEFAULT_PACK, SHIPPED, generated_packs, make_scenario
from chaosops.policies.llm.trained_on import read_trained_on
from chaosops.policies.registry import default_policies, load_policy
from chaosops.report import figures
from chaosops.report.episode_html import episode_html
from chaosops.trained import EVALUATIONS, trained_adapter

_RECORD = EVALUATIONS / "classic_published" / "summary.json"


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
    print(f"One incident, two teams, the same seed: random against {player}.\n")
    start = time.perf_counter()
    _, episode = show(make_scenario(), ["random", player], frame_delay)
    if player == "trained":
        print(
            f"\ntrained is {status['model']} with {status['adapter']} on {status['backend']}: "
            f"{len(episode.exchanges)} replies, {episode.tokens_read:,} tokens read "
            f"in {time.perf_counter() - start:.1f} s with the pauses"
        )
    document = folder / f"{player}_episode.html"
    write_text(document, episode_html(episode, {"command": command_line, "policy_status": status}))
    print(f"its episode, turn by turn: {document}")
    matrix = scenarios("published")
    print(f"\nThe published matrix: {len(matrix)} episodes per policy.\n")
    results = evaluate_with_progress(default_policies(DEFAULT_PACK), matrix, command_line)
    # The trained model would take minutes, so its rows come from the evaluation that ships.
    rows = json.loads(_RECORD.read_text(encoding="utf-8"))
    recorded = [row for row in rows if row["policy"] == "trained"]
    written = [save(results, folder)]
    report(results, folder, draw=_can_draw(), written=written, recorded=recorded)
    _tell_next()


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


def _tell_next() -> None:
    me = sys.argv[0] if Path(sys.argv[0]).name == "chaosops" else "chaosops"
    me = "chaosops" if shutil.which("chaosops") == me else os.path.relpath(me)
    pack = generated_packs(read_trained_on(trained_adapter()) or SHIPPED)[0]
    print("\ntrained is in the table from the record that ships. To play it live, and more:")
    print(f"  {me} eval --matrix published --policies heuristic,oracle,trained")
    print(f"  {me} watch --pack {pack} --seed 3 --policy heuristic --versus trained")
    print(f"  {me} play --role oversight")
