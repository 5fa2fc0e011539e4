"""``chaosops run``"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from chaosops.cli.choices import chosen_scenario
from chaosops.cli.output import print
from chaosops.core.decision import Chat
from chaosops.core.episode import Episode
from chaosops.core.files import open_file
from chaosops.env import Env
from chaosops.evaluation.results import source_commit
from chaosops.evaluation.twin import twin_of
from chaosops.packs import load_pack
from chaosops.report.transcript import transcript
from chaosops.roles.prompt import render
from chaosops.rollout import load_team, play
from chaosops.version import VERSION
from chaosops.wire.episodes import episode_to_wire
from chaosops.wire.recordings import write_recording


def execute(args: argparse.Namespace) -> int:
    scenario = chosen_scenario(args)
    if args.record:
        # A model may be played from a file.
        open_file(args.record, "--record", map(Path, re.split(r"[=+,]", args.policy)))
    team = load_team(args.policy)
    episode = play(scenario, team)
    manifest = {
        "command": args.command_line,
        "version": VERSION,
        "commit": source_commit() if args.json or args.record else None,
        "pack_hash": load_pack(scenario.pack).content_hash(),
        "policy_status": team.status(),
    }
    if args.record:
        write_recording(args.record, episode, manifest)
    prompts = shown_prompts(episode) if args.prompts else []
    if args.json:
        print(json.dumps(_wire(episode, manifest, prompts), indent=1))
    else:
        print("\n".join([transcript(episode, prompts), *twin_lines(episode)]))
        if args.record:
            print(f"\nrecorded: {args.record}")
    return 0


def shown_prompts(episode: Episode) -> list[Chat]:
    """What each role was shown: what a model was sent, or what it would have been sent."""
    env = Env(episode.scenario)
    prompts: list[Chat] = []
    for turn in episode.turns:
        exchange = turn.decision.exchange
        prompts.append(tuple(render(env.view)) if exchange is None else exchange.prompt)
        env.play(turn.decision)
    return prompts


def _wire(episode: Episode, manifest: dict[str, Any], prompts: list[Chat]) -> dict[str, Any]:
    wire = {**manifest, **episode_to_wire(episode)}
    if episode.scenario.pack == "arena":
        wire["twin"] = twin_of(episode)._asdict()
    for turn, prompt in zip(wire["turns"], prompts, strict=False):
        turn["prompt"] = [dict(message) for message in prompt]
    return wire


def twin_lines(episode: Episode) -> list[str]:
    """What it cost the users, where the world counts requests."""
    if episode.scenario.pack != "arena":
        return []
    twin = twin_of(episode)
    return [
        f"requests lost {twin.lost:,.0f}; had nothing happened {twin.lost_without_cause:,.0f}, "
        f"had nobody come {twin.lost_without_team:,.0f}"
    ]
