"""``chaosops watch``: a live screen in a terminal, plain lines anywhere else."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from rich.live import Live

from chaosops.cli.options import PLAYED, Policy, Rewards, ScenarioOptions, Seconds
from chaosops.cli.output import note, open_console, print
from chaosops.cli.progress import Progress
from chaosops.cli.real_time import permit_one
from chaosops.core.episode import Episode
from chaosops.core.scenario import Scenario
from chaosops.env import Env
from chaosops.report.frames import Frame, frame_of
from chaosops.report.transcript import transcript, versus_transcript
from chaosops.rollout import Rollout, load_team, watch
from chaosops.rubrics import priced
from chaosops.rubrics.prices import Prices, parse_rewards, rewards_line
from chaosops.terminal.screen import Room, draw
from chaosops.wire.ending import explanation

if TYPE_CHECKING:
    from rich.console import Console

_FLAG_HOLD = 4  # a flag stays on the screen for this many frames


def execute(
    *,
    options: ScenarioOptions = PLAYED,
    policy: Policy = "oracle",
    versus: str = "",
    rewards: Rewards = "",
    frame_delay: Seconds = 0.6,
    plain: bool = False,
) -> None:
    """
    Args:
        versus: a second policy on the same seed
        frame_delay: seconds for each turn
        plain: print lines instead of a live screen
    """
    players, own_rewards = [policy, versus] if versus else [policy], parse_rewards(rewards)
    scenario = options.chosen()
    permit_one(scenario, players)
    show(scenario, players, frame_delay, plain, own_rewards)


def show(
    scenario: Scenario,
    policies: Sequence[str],
    delay: float,
    plain: bool = False,
    rewards: Prices = MappingProxyType({}),
) -> list[Episode]:
    teams = [load_team(name) for name in policies]
    if rewards:
        for team in teams:
            team.require_no_search()
        note(rewards_line(rewards))
    rollouts = [Rollout(Env(scenario, priced(rewards)), team) for team in teams]
    console = open_console()
    if plain or not console.is_terminal:
        _print_lines(rollouts)
    elif console.width >= 150:
        _animate(console, rollouts, delay)
    else:  # too narrow for two episodes side by side
        for rollout in rollouts:
            _animate(console, [rollout], delay)
    if console.is_terminal and not plain:
        _explain(console, rollouts)
    return [rollout.episode for rollout in rollouts]


def _animate(console: Console, rollouts: Sequence[Rollout], delay: float) -> None:
    rules = rollouts[0].env.world.public.rules
    room = Room.for_height(console.height, len(rules.services), documents=bool(rules.runbook))
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for frames in film(rollouts):
            live.update(draw(frames, room), refresh=True)
            flags = [frame.flag_now for frame in frames if frame.outcome is None]
            time.sleep(delay * (_FLAG_HOLD if any(flags) else 1))


def _explain(console: Console, rollouts: Sequence[Rollout]) -> None:
    """The end in sentences, which a frame has no room for."""
    for rollout in rollouts:
        for sentence in explanation(rollout.episode):
            console.print(sentence, markup=False, highlight=False)
        if rollout is not rollouts[-1]:
            console.print()


def film(rollouts: Sequence[Rollout]) -> Iterator[list[Frame]]:
    """The frames of all rollouts after each turn. A finished rollout keeps its last frame."""
    frames = [frame_of(rollout) for rollout in rollouts]
    yield list(frames)
    for turns in watch(rollouts):
        for i, _ in turns:
            frames[i] = frame_of(rollouts[i], frames[i])
        yield list(frames)


def _print_lines(rollouts: Sequence[Rollout]) -> None:
    with Progress("steps at most") as progress:
        for _ in watch(rollouts):
            for rollout in rollouts:
                episode = rollout.episode
                progress.update(rollout.team.name, episode.steps, episode.scenario.limit)
    episodes = [rollout.episode for rollout in rollouts]
    print(transcript(episodes[0]) if len(episodes) == 1 else versus_transcript(episodes))
