"""``chaosops demo``: the main job in a minute, in a terminal or without one."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chaosops.cli.evaluate import evaluate_with_progress, report
from chaosops.cli.output import print
from chaosops.cli.watch import show
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder, write_text
from chaosops.evaluation.journal import JOURNAL_NAME
from chaosops.evaluation.matrix import scenarios
from chaosops.packs import make_scenario
from chaosops.policies.registry import load_policy
from chaosops.report import figures
from chaosops.report.episode_html import episode_html

_POLICIES = ["random", "keyword", "heuristic", "oracle"]


def execute(args: argparse.Namespace) -> int:
    figures.require_matplotlib()
    folder = open_folder(args.out)
    if (folder / JOURNAL_NAME).exists():
        raise BadInput(f"{folder} holds an evaluation of chaosops eval; choose another --out")
    scenario = make_scenario()
    print("One incident, two teams, the same seed: random against trained.\n")
    # Loaded first, so that the screen does not stand still.
    status = load_policy("trained").status()
    start = time.perf_counter()
    _, episode = show(scenario, ["random", "trained"], args.frame_delay)
    _tell_model(episode, status, time.perf_counter() - start)
    document = folder / "trained_episode.html"
    facts = {"command": args.command_line, "policy_status": status}
    write_text(document, episode_html(episode, facts))
    print(f"its prompts and replies: {document}")
    print("\nThe published matrix: 55 episodes per policy.\n")
    results = evaluate_with_progress(_POLICIES, scenarios("published"), args.command_line)
    report(results, folder, draw=True)
    me = os.path.relpath(sys.argv[0]) if Path(sys.argv[0]).name == "chaosops" else "chaosops"
    print("\nNext: the trained model in the same table (a few minutes on a CPU):")
    print(f"      {me} eval --matrix published --policies heuristic,oracle,trained")
    print(f"      {me} watch --pack arena --tier hard --seed 3 --policy heuristic --versus trained")
    print(f"      {me} play --role oversight")
    return 0


def _tell_model(episode: Episode, status: Mapping[str, Any], seconds: float) -> None:
    print(
        f"\ntrained is {status['model']} with {status['adapter']} on {status['backend']}: "
        f"{len(episode.exchanges)} replies, {episode.tokens_read:,} tokens read "
        f"in {seconds:.1f} s with the pauses"
    )
