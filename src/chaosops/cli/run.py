"""``chaosops run``"""

from __future__ import annotations

import argparse
import json

from chaosops.cli.choices import chosen_scenario
from chaosops.core.episode import Episode
from chaosops.env import Env
from chaosops.evaluation.results import source_commit
from chaosops.evaluation.twin import twin_of
from chaosops.packs import load_pack
from chaosops.report.transcript import closing_lines, header_line, turn_line
from chaosops.roles.prompt import render
from chaosops.rollout import Table, load_team, watch
from chaosops.version import VERSION


def execute(args: argparse.Namespace) -> int:
    scenario = chosen_scenario(args)
    table = Table(Env(scenario), load_team(args.policy))
    prompts = []
    view = table.env.view
    lines = [header_line(table.episode), ""]
    for _ in watch([table]):
        prompts.append(render(view))
        if args.prompts:
            lines += ["", *(f"    {line}" for line in prompts[-1][1]["content"].splitlines())]
        lines.append(turn_line(table.episode.turns[-1]))
        view = table.env.view
    if args.json:
        pack = load_pack(scenario.pack)
        wire = {
            "command": args.command_line,
            "version": VERSION,
            "commit": source_commit(),
            "pack_hash": pack.content_hash(),
            "policy_status": table.team.status(),
            **table.episode.to_wire(),
        }
        if scenario.pack == "arena":
            wire["twin"] = twin_of(table.episode)._asdict()
        if args.prompts:
            for turn, prompt in zip(wire["turns"], prompts, strict=True):
                turn["prompt"] = prompt
        print(json.dumps(wire, indent=1))
    else:
        print("\n".join([*lines, "", *closing_lines(table.episode), *_twin_lines(table.episode)]))
    return 0


def _twin_lines(episode: Episode) -> list[str]:
    """What it cost the users, where the world counts requests."""
    if episode.scenario.pack != "arena":
        return []
    twin = twin_of(episode)
    return [
        f"requests lost {twin.lost:,.0f}; had nothing happened {twin.lost_without_cause:,.0f}, "
        f"had nobody come {twin.lost_without_team:,.0f}"
    ]
