"""``chaosops demo``: the main job in a minute, in a terminal or without one."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from chaosops.cli.evaluate import evaluate_with_progress, report
from chaosops.cli.watch import show
from chaosops.core.files import open_folder, write_text
from chaosops.core.scenario import BY_HAND_LIMIT
from chaosops.evaluation.matrix import scenarios
from chaosops.packs import make_scenario
from chaosops.report import figures
from chaosops.report.episode_html import episode_html
from chaosops.report.transcript import transcript
from chaosops.rollout import load_team, play

_MODEL = "local:smollm2"
_MODEL_STEPS = 8
_POLICIES = ["random", "keyword", "heuristic", "oracle"]


def execute(args: argparse.Namespace) -> int:
    figures.require_matplotlib()
    folder = open_folder(args.out)
    scenario = make_scenario("autoscaler_cost_cut", tier="hard", seed=42, limit=BY_HAND_LIMIT)
    print("One incident, two teams, the same seed: random against oracle.\n")
    show(scenario, ["random", "oracle"], args.frame_delay)
    _show_model(folder, args.command_line)
    print("\nThe published matrix: 55 episodes per policy.\n")
    results = evaluate_with_progress(_POLICIES, scenarios("published"), args.command_line)
    report(results, folder, draw=True)
    me = os.path.relpath(sys.argv[0]) if Path(sys.argv[0]).name == "chaosops" else "chaosops"
    print(f"\nNext: {me} watch --scenario rogue_deploy_bot --policy heuristic --versus oracle")
    print(f"      {me} play --role oversight")
    return 0


def _show_model(folder: Path, command: str) -> None:
    """A real language model in all four seats; untrained, it shows what there is to learn."""
    scenario = make_scenario("autoscaler_cost_cut", tier="hard", seed=42, limit=_MODEL_STEPS)
    print(f"\nThe same incident, {_MODEL} (untrained, on this CPU) in all four seats.\n")
    team = load_team(_MODEL)
    start = time.perf_counter()
    episode = play(scenario, team)
    seconds = time.perf_counter() - start
    print(transcript(episode))
    status = team.status()
    print(
        f"\n{status['model']} ({status['revision']}) on {status['backend']}: "
        f"{episode.tokens_read:,} tokens read in {seconds:.1f} s"
    )
    document = folder / "model_episode.html"
    write_text(document, episode_html(episode, {"command": command, "policy_status": status}))
    print(f"prompts and replies: {document}")
