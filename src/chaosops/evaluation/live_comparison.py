"""The same incidents, live and simulated: how far do the figures of a simulator hold?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.core.episode import Episode
from chaosops.core.scenario import Scenario
from chaosops.evaluation.statistics import Interval, mean, mean_ci95, share_ci95
from chaosops.packs.live import PACK
from chaosops.packs.live.pack import VoidRun
from chaosops.packs.live.reports import report_of
from chaosops.rollout import AnyTeam, load_team, play
from chaosops.wire.recordings import read_recording, write_recording

SIMULATED = "rehearsal"


class Pair(NamedTuple):
    """One seed, played by both packs. ``live`` is None where the fault did not show."""

    scenario: Scenario
    live: Episode | None
    simulated: Episode

    @property
    def is_void(self) -> bool:
        return self.live is None or report_of(self.live).is_void


def play_pairs(
    policy: str, scenarios: Sequence[Scenario], folder: Path, say: Callable[[str], None]
) -> Iterator[Pair]:
    """What is recorded in the folder is not played again."""
    team = load_team(policy)
    for scenario in scenarios:
        path = folder / f"{scenario.tier}-{scenario.seed:04}.json"
        live = read_recording(path).episode if path.is_file() else _play(scenario, team, path, say)
        yield Pair(scenario, live, play(replace(scenario, pack=SIMULATED), team))


def _play(
    scenario: Scenario, team: AnyTeam, path: Path, say: Callable[[str], None]
) -> Episode | None:
    try:
        episode = play(scenario, team)
    except VoidRun as error:
        say(f"seed {scenario.seed}: {error}")
        return None
    write_recording(path, episode, {"command": "chaosops live compare", "pack": PACK.name})
    return episode


class Measured(NamedTuple):
    """A figure with its 95 % interval, over some ``episodes``."""

    value: float | None
    interval: Interval | None
    episodes: int

    def words(self, *, is_share: bool) -> str:
        if self.value is None:
            return "n/a"
        values = [self.value, *(self.interval or ())]
        told = [f"{100 * one:.0f}%" if is_share else f"{one:.2f}" for one in values]
        return f"{told[0]} [{told[1]}, {told[2]}]" if self.interval else told[0]


def _share(values: Sequence[bool]) -> Measured:
    found = sum(values) / len(values) if values else None
    return Measured(found, share_ci95(sum(values), len(values)), len(values))


def _mean(values: Sequence[float]) -> Measured:
    return Measured(mean(values), mean_ci95(values, least=0.0), len(values))


_SHARES: dict[str, Callable[[Episode], bool | None]] = {
    "solved": lambda episode: episode.resolved,
    "rogue caught": lambda episode: episode.rogue_caught,
    "benign episodes with a false flag": lambda episode: (
        episode.false_flags > 0 if episode.rogue is None else None
    ),
    "cause named": lambda episode: any(turn.events.cause_named for turn in episode.turns),
}
_MEANS: dict[str, Callable[[Episode], float | None]] = {
    "steps to resolution": lambda episode: episode.steps if episode.resolved else None,
    "wrong fixes": lambda episode: episode.wrong_fixes,
}


def figures(episodes: Sequence[Episode]) -> dict[str, Measured]:
    """Where a figure does not apply to an episode, the episode does not count for it."""
    found = {
        name: _share([value for one in episodes if (value := of(one)) is not None])
        for name, of in _SHARES.items()
    }
    return found | {
        name: _mean([number for one in episodes if (number := count(one)) is not None])
        for name, count in _MEANS.items()
    }


def durable(episodes: Sequence[Episode]) -> Measured:
    """Of the solved episodes that were watched: did the company stay well?"""
    lasted = [report_of(one).is_durable for one in episodes if one.resolved]
    return _share([value for value in lasted if value is not None])


def summary(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Both sides over the same seeds. Void runs are left out on both, and counted."""
    valid = [pair for pair in pairs if not pair.is_void]
    live = [pair.live for pair in valid if pair.live is not None]
    return {
        "seeds": len(pairs),
        "void": len(pairs) - len(valid),
        "live": figures(live),
        SIMULATED: figures([pair.simulated for pair in valid]),
        "stayed well": durable(live),
        "same verdict": _share([_is_same(pair) for pair in valid]),
    }


def _is_same(pair: Pair) -> bool:
    return pair.live is not None and _verdict(pair.live) == _verdict(pair.simulated)


def _verdict(episode: Episode) -> tuple[object, ...]:
    return episode.resolved, episode.rogue_caught, episode.false_flags > 0


def table_rows(policy: str, tier: str, found: dict[str, Any]) -> Iterator[list[str]]:
    for name, live in found["live"].items():
        simulated, is_share = found[SIMULATED][name], name in _SHARES
        told = [side.words(is_share=is_share) for side in (live, simulated)]
        yield [policy, tier, name, *told, str(live.episodes)]
    for name in ("stayed well", "same verdict"):
        measured = found[name]
        yield [policy, tier, name, measured.words(is_share=True), "n/a", str(measured.episodes)]
