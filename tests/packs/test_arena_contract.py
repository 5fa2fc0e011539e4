"""The oracle solves every company without a false flag, and nobody earns more."""

from __future__ import annotations

from time import perf_counter

import pytest

from chaosops.core.actions import Noop
from chaosops.core.episode import Episode
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Tier
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.packs.arena.splits import SPLITS
from chaosops.policies.registry import load_policy
from chaosops.rollout import Team, play_many

SCRIPTS = ("random", "keyword", "last_toucher", "heuristic", "auditor")
SEEDS = range(3)


@pytest.mark.parametrize("split", SPLITS)
def test_the_oracle_solves_all_and_nobody_is_above_it(split: str) -> None:
    scenarios = [
        make_scenario(pack="arena", split=split, tier=tier, seed=seed)
        for tier in Tier
        for seed in SEEDS
    ]
    best = list(play_many(scenarios, Team.of(load_policy("oracle"))))
    for episode in best:
        assert episode.resolved, episode.scenario
        assert episode.rogue_caught is not False, episode.scenario
        assert (episode.false_flags, episode.wrong_fixes) == (0, 0), episode.scenario
    assert not above(best)


def above(best: list[Episode]) -> list[tuple[str, Scenario]]:
    """Scripts that earned more than the oracle, and where."""
    scenarios = [oracle.scenario for oracle in best]
    return [
        (name, oracle.scenario)
        for name in SCRIPTS
        for episode, oracle in zip(
            play_many(scenarios, Team.of(load_policy(name))), best, strict=True
        )
        if episode.reward > oracle.reward
    ]


def test_a_fork_costs_less_than_a_step() -> None:
    env = Env(make_scenario(pack="arena", split="test", tier="hard", seed=1))
    env.step(Noop())

    def fastest(repeats: int, forks: bool) -> float:
        times = []
        for _ in range(repeats):
            other = env.fork()
            start = perf_counter()
            if forks:
                env.fork()
            else:
                other.step(Noop())
            times.append(perf_counter() - start)
        return min(times)

    assert fastest(30, forks=True) < fastest(30, forks=False)


def test_what_happens_in_a_fork_stays_there() -> None:
    env = Env(make_scenario(pack="arena", split="test", tier="hard", seed=1))
    before = env.world.digest()
    other = env.fork()
    while not other.over:
        other.step(Noop())
    assert env.world.digest() == before
    assert env.fork().world.digest() == before
