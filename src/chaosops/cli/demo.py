"""``chaosops demo``: the main job in a minute, in a terminal or without one."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from chaosops.cli.evaluate import evaluate_with_progress, report
from chaosops.cli.watch import show
from chaosops.core.scenario import BY_HAND_LIMIT
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.results import open_folder
from chaosops.packs import make_scenario
from chaosops.report import figures

_POLICIES = ["random", "keyword", "heuristic", "oracle"]


def execute(args: argparse.Namespace) -> int:
    figures.require_matplotlib()
    folder = open_folder(args.out)
    scenario = make_scenario("autoscaler_cost_cut", tier="hard", seed=42, limit=BY_HAND_LIMIT)
    print("One incident, two teams, the same seed: random against oracle.\n")
    show(scenario, ["random", "oracle"], args.frame_delay)
    print("\nThe published matrix: 55 episodes per policy.\n")
    results = evaluate_with_progress(_POLICIES, scenarios("published"), args.command_line)
    report(results, folder, draw=True)
    me = os.path.relpath(sys.argv[0]) if Path(sys.argv[0]).name == "chaosops" else "chaosops"
    print(f"\nNext: {me} watch --scenario rogue_deploy_bot --policy heuristic --versus oracle")
    print(f"      {me} play --role oversight")
    return 0
