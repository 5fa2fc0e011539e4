"""``chaosops run``"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chaosops.cli.options import PLAYED, CommandLine, File, Otlp, Policy, Rewards, ScenarioOptions
from chaosops.cli.output import print, print_result, prints_to_stderr
from chaosops.cli.progress import Progress
from chaosops.cli.real_time import permit_one
from chaosops.core.episode import Episode
from chaosops.core.files import open_file
from chaosops.core.scenario import Scenario
from chaosops.core.source import source_commit
from chaosops.env import Env
from chaosops.packs import load_pack
from chaosops.report.otlp import check_target, deliver
from chaosops.report.prompts import shown_prompts
from chaosops.report.spans import trace_of
from chaosops.report.transcript import transcript
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
    otlp: Otlp = None,
    command_line: CommandLine,
) -> None:
    """
    Args:
        json: print the whole episode as JSON
        prompts: print what each role was shown
        record: save the episode for chaosops replay
    """
    scenario, own_rewards = options.chosen(), parse_rewards(rewards)
    permit_one(scenario)
    taken = [Path(part) for part in re.split(r"[=+,:]", policy)]  # it may be a model in a file
    if record:
        taken.append(open_file(record, "--record", taken))
    if otlp is not None:
        check_target(otlp, taken)
    rollout, ends_ns = _play(policy, scenario, own_rewards)
    # Commit and hash take time. A transcript shows neither.
    written = json or record is not None or otlp is not None
    manifest = {
        "command": command_line,
        "version": VERSION,
        "commit": source_commit() if written else None,
        "pack_hash": load_pack(scenario.pack).content_hash() if written else None,
        "policy_status": rollout.team.status(),
        **({"rewards": own_rewards} if own_rewards else {}),
    }
    if record:
        write_recording(record, rollout.episode, manifest)
    print_episode(rollout.episode, manifest, prompts=prompts, as_json=json)
    if record and not json:
        print(f"\nrecorded: {record}")
    if otlp is not None:
        said = deliver(otlp, trace_of(rollout.episode, manifest, ends_ns))
        print(said, file=sys.stderr if json else None)


def _play(
    policy: str, scenario: Scenario, rewards: Mapping[str, float]
) -> tuple[Rollout, list[int]]:
    """Also when the episode began and when each turn ended, in nanoseconds."""
    with Progress("steps at most") as progress, prints_to_stderr():
        progress.update(f"loading {policy}", 0, None)
        team = load_team(policy)
        if rewards:
            team.require_no_search()
        rollout = Rollout(Env(scenario, priced(rewards)), team)
        progress.update(policy, 0, scenario.limit)
        ends_ns = [time.time_ns()]
        for _ in watch([rollout]):
            ends_ns.append(time.time_ns())
            progress.update(policy, rollout.episode.steps, scenario.limit)
    return rollout, ends_ns


def print_episode(
    episode: Episode, manifest: Mapping[str, Any], *, prompts: bool, as_json: bool
) -> None:
    shown = list(shown_prompts(episode)) if prompts else []
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
