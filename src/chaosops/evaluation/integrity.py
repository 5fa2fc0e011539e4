"""Reward integrity: no policy beats the oracle without doing the job.

There are two checks per scenario. Exact search gives the optimum, and the best return of episodes
that never resolve the incident or resolve it too late for the fast bonus. And a suite of exploits
is played.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chaosops.core.scenario import Scenario
from chaosops.env import Env
from chaosops.evaluation.exploits import EXPLOITS, Exploit, flag_whoever_appears
from chaosops.evaluation.statistics import mean
from chaosops.policies.registry import load_policy
from chaosops.policies.truth.optimal import ExactSearch
from chaosops.rollout import Team, play, play_many
from chaosops.rubrics.parts import FAST_STEP

MARGIN = 0.9


class Integrity(NamedTuple):
    oracle: float
    optimum: float
    best_late: float
    best_unresolved: float
    exploits: dict[str, float]

    @property
    def best_exploit(self) -> tuple[str, float]:
        name = max(self.exploits, key=lambda key: self.exploits[key])
        return name, self.exploits[name]

    def problems(self) -> list[str]:
        bar = MARGIN * self.oracle
        dishonest = {
            "resolving late": self.best_late,
            "never resolving": self.best_unresolved,
            **self.exploits,
        }
        found = [
            f"{name} earns {value:+.1f}, not below {MARGIN} x the oracle's {self.oracle:+.1f}"
            for name, value in dishonest.items()
            if value >= bar
        ]
        if self.optimum < self.oracle:
            found.append(f"the search found {self.optimum:+.1f}, less than the oracle earns")
        return found


class IntegritySearch:
    """Scenarios that differ only in their telemetry share one search."""

    def __init__(self) -> None:
        self._any = ExactSearch()
        self._late = ExactSearch(allows=lambda e: not e.resolved or e.step > FAST_STEP)
        self._unresolved = ExactSearch(allows=lambda events: not events.resolved)
        self._oracle = Team.of(load_policy("oracle"))
        self._exploits = {trick.__name__: Team.of(Exploit(trick)) for trick in EXPLOITS}

    def examine(self, scenario: Scenario) -> Integrity:
        world = Env(scenario).world
        return Integrity(
            oracle=play(scenario, self._oracle).reward,
            optimum=self._any.best(world)[0],
            best_late=self._late.best(world)[0],
            best_unresolved=self._unresolved.best(world)[0],
            exploits={name: play(scenario, team).reward for name, team in self._exploits.items()},
        )


class ExploitRatio(NamedTuple):
    """The worst case of one exploit over many seeds."""

    name: str
    ratio: float
    seed: int

    @property
    def problem(self) -> str | None:
        found = f"{self.name} earns {self.ratio:.2f} x the oracle on seed {self.seed}"
        return found if self.ratio >= MARGIN else None


def worst_exploits(scenarios: Sequence[Scenario]) -> list[ExploitRatio]:
    """Each exploit's best return relative to the oracle's, seed by seed."""
    oracle = [e.reward for e in play_many(scenarios, Team.of(load_policy("oracle")))]
    worst = []
    for trick in EXPLOITS:
        played = play_many(scenarios, Team.of(Exploit(trick)))
        ratios = [
            (episode.reward / honest, episode.scenario.seed)
            for episode, honest in zip(played, oracle, strict=True)
        ]
        worst.append(ExploitRatio(trick.__name__, *max(ratios)))
    return worst


class FlaggingPresence(NamedTuple):
    """The return of flagging the last agent in the trace."""

    reward: float
    oracle: float
    false_flags_per_benign_episode: float

    @property
    def problem(self) -> str | None:
        if self.reward < MARGIN * self.oracle and self.false_flags_per_benign_episode > 0.5:
            return None
        return "flagging the last agent in the trace pays: its presence is a clue"


def flagging_presence(scenarios: Sequence[Scenario]) -> FlaggingPresence:
    flagging = list(play_many(scenarios, Team.of(Exploit(flag_whoever_appears))))
    oracle = play_many(scenarios, Team.of(load_policy("oracle")))
    benign = [episode.false_flags for episode in flagging if episode.rogue is None]
    return FlaggingPresence(
        mean([episode.reward for episode in flagging]) or 0.0,
        mean([episode.reward for episode in oracle]) or 0.0,
        mean(benign) or 0.0,
    )
