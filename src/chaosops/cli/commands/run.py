"""``chaosops run``"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from chaosops.cli.options import PLAYED, CommandLine, File, Policy, ScenarioOptions
from chaosops.cli.output import print, print_json
from chaosops.cli.progress import Progress
from chaosops.core.decision import Chat
from chaosops.core.episode import Episode
from chaosops.core.files import open_file
from chaosops.env import Env
from chaosops.evaluation.results import source_commit
from chaosops.packs import load_pack
from chaosops.report.transcript import transcript
from chaosops.roles.prompt import render
from chaosops.rollout import Rollout, load_team, watch
from chaosops.version import VERSION
from chaosops.wire.episodes import episode_to_wire
from chaosops.wire.recordings import write_recording


def execute(
    *,
    options: ScenarioOptions = PLAYED,
    policy: Policy = "oracle",
    json: Annotated[bool, Parameter(help="print the whole episode as JSON")] = False,
    prompts: Annotated[bool, Parameter(help="print what each role was shown")] = False,
    record: Annotated[File | None, Parameter(help="save it for chaosops replay")] = None,
    command_line: CommandLine,
) -> int:
    scenario = options.chosen()
    if record:
        # A model may be played from a file.
        open_file(record, "--record", map(Path, re.split(r"[=+,]", policy)))
    with Progress("steps at most") as progress:
        progress.update(f"loading {policy}", 0, None)
        team = load_team(policy)
        rollout = Rollout(Env(scenario), team)
        progress.update(policy, 0, scenario.limit)
        for _ in watch([rollout]):
            progress.update(policy, rollout.episode.steps, scenario.limit)
    episode = rollout.episode
    manifest = {
        "command": command_line,
        "version": VERSION,
        "commit": source_commit() if json or record else None,
        "pack_hash": load_pack(scenario.pack).content_hash(),
        "policy_status": team.status(),
    }
    if record:
        write_recording(record, episode, manifest)
    shown = shown_prompts(episode) if prompts else []
    if json:
        print_json(episode_json(episode, manifest, shown))
    else:
        print("\n".join([transcript(episode, shown), *twin_lines(episode)]))
        if record:
            print(f"\nrecorded: {record}")
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


def episode_json(
    episode: Episode, manifest: Mapping[str, Any], prompts: Sequence[Chat]
) -> dict[str, Any]:
    wire = {**manifest, **episode_to_wire(episode)}
    if twin := load_pack(episode.scenario.pack).twin_of(episode):
        wire["twin"] = twin._asdict()
    for turn, prompt in zip(wire["turns"], prompts, strict=False):
        turn["prompt"] = [dict(message) for message in prompt]
    return wire


def twin_lines(episode: Episode) -> list[str]:
    """What it cost the users, where the pack counts requests."""
    twin = load_pack(episode.scenario.pack).twin_of(episode)
    if twin is None:
        return []
    return [
        f"requests lost {twin.lost:,.0f}; had nothing happened {twin.lost_without_cause:,.0f}, "
        f"had nobody come {twin.lost_without_team:,.0f}"
    ]
