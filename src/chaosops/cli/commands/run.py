"""``chaosops run``"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from chaosops.cli.options import PLAYED, CommandLine, File, Policy, Rewards, ScenarioOptions
from chaosops.cli.output import print, print_result
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
from chaosops.rubrics import priced
from chaosops.rubrics.prices import parse_rewards, rewards_line
from chaosops.version import VERSION
from chaosops.wire.ending import explanation, twin_to_wire
from chaosops.wire.episodes import episode_to_wire
from chaosops.wire.recordings import write_recording


def execute(
    *,
    options: ScenarioOptions = PLAYED,
    policy: Policy = "oracle",
    rewards: Rewards = "",
    json: bool = False,
    prompts: bool = False,
    record: File | None = None,
    command_line: CommandLine,
) -> None:
    """
    Args:
        json: print the whole episode as JSON
        prompts: print what each role was shown
        record: save the episode for chaosops replay
    """
    scenario, own_rewards = options.chosen(), parse_rewards(rewards)
    if record:
        # The policy may be a model in a file.
        open_file(record, "--record", map(Path, re.split(r"[=+,:]", policy)))
    with Progress("steps at most") as progress:
        progress.update(f"loading {policy}", 0, None)
        team = load_team(policy)
        if own_rewards:
            team.require_no_search()
        rollout = Rollout(Env(scenario, priced(own_rewards)), team)
        progress.update(policy, 0, scenario.limit)
        for _ in watch([rollout]):
            progress.update(policy, rollout.episode.steps, scenario.limit)
    written = json or record is not None  # commit and hash take time; a transcript shows neither
    manifest = {
        "command": command_line,
        "version": VERSION,
        "commit": source_commit() if written else None,
        "pack_hash": load_pack(scenario.pack).content_hash() if written else None,
        "policy_status": team.status(),
        **({"rewards": own_rewards} if own_rewards else {}),
    }
    if record:
        write_recording(record, rollout.episode, manifest)
    print_episode(rollout.episode, manifest, prompts=prompts, as_json=json)
    if record and not json:
        print(f"\nrecorded: {record}")


def print_episode(
    episode: Episode, manifest: Mapping[str, Any], *, prompts: bool, as_json: bool
) -> None:
    shown = list(_shown_prompts(episode)) if prompts else []
    wire = {**manifest, **episode_to_wire(episode)}
    for turn, prompt in zip(wire["turns"], shown, strict=False):
        turn["prompt"] = [dict(message) for message in prompt]
    lines = [transcript(episode, shown)]
    if own_rewards := manifest.get("rewards"):
        lines.append(rewards_line(own_rewards))
    told = explanation(episode)
    # The failed requests of users, if the pack counts them. An explanation ends with them.
    if twin := load_pack(episode.scenario.pack).twin_of(episode):
        wire["twin"] = twin_to_wire(twin)
        if not told:
            lines.append(
                f"requests lost {twin.lost:,.0f}; had nothing happened "
                f"{twin.lost_without_cause:,.0f}, had nobody come {twin.lost_without_team:,.0f}"
            )
    if told:
        wire["explanation"] = told
    print_result(wire, lines, as_json=as_json)


def _shown_prompts(episode: Episode) -> Iterator[Chat]:
    """The prompt of each turn: the one that a model got, or would have got."""
    env = Env(episode.scenario)
    for turn in episode.turns:
        exchange = turn.decision.exchange
        yield tuple(render(env.view)) if exchange is None else exchange.prompt
        env.play(turn.decision)
