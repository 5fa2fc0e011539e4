"""The speed of the simulator, beside a calibration loop measured in the same run."""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Callable
from itertools import cycle, islice
from typing import Any

from chaosops.core.dice import Dice, key_of
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role, Tier
from chaosops.env import Env
from chaosops.evaluation.matrix import scenarios
from chaosops.packs import DEFAULT_PACK, load_pack
from chaosops.policies.registry import load_policy
from chaosops.roles.prompt import render
from chaosops.roles.view import project
from chaosops.rollout import Rollout, Team, watch
from chaosops.rubrics import standard

ROUNDS = 5


def bench(seconds: float = 1.0, pack: str = DEFAULT_PACK) -> dict[str, Any]:
    """Rounds of calibration and play alternate, so that a busy moment of the machine affects
    both. The median round counts."""
    matrix = bench_scenarios(pack)
    kinds: dict[str, Callable[[float], float]] = {
        "calibration": _calibrate,
        # The view of the role on turn is already built: the policy decides from it.
        "steps_per_s": lambda s: _play(matrix, s, lambda env: None),
        "steps_with_four_views_per_s": lambda s: _play(
            matrix, s, lambda env: [project(env.world.public, role) for role in Role]
        ),
        "steps_with_prompts_per_s": lambda s: _play(matrix, s, lambda env: render(env.view)),
    }
    rates: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(ROUNDS):
        for name, measure in kinds.items():
            rates[name].append(measure(seconds / ROUNDS))
    medians = {name: sorted(values)[ROUNDS // 2] for name, values in rates.items()}
    unit = medians["calibration"]
    return {
        "pack": pack,
        "policy": "random",
        **{name: round(rate, 1) for name, rate in medians.items()},
        "steps_per_calibration": round(medians["steps_per_s"] / unit, 3),
        "steps_with_prompts_per_calibration": round(medians["steps_with_prompts_per_s"] / unit, 3),
        "fork_us": round(_time_forks(matrix), 3),
        "live_episode_bytes": live_episode_bytes(matrix),
    }


def bench_scenarios(pack: str) -> list[Scenario]:
    """Every failure. For a pack with splits, companies of ten services, where it has some."""
    loaded = load_pack(pack)
    if not loaded.splits:
        return scenarios("full", pack=pack, seeds=20)
    tiers = [Tier.MEDIUM, Tier.HARD]
    split = loaded.training_split or loaded.default_split
    drawn = scenarios(pack=pack, split=split, tiers=tiers, seeds=400)
    return [s for s in drawn if len(Env(s).world.public.rules.services) == 10] or drawn


def _time_forks(matrix: list[Scenario], count: int = 20_000) -> float:
    """Microseconds for a copy of an episode in progress."""
    env = Env(matrix[0])
    env.step('{"action":"noop"}')
    start = time.perf_counter()
    for _ in range(count):
        env.fork()
    return 1e6 * (time.perf_counter() - start) / count


def _calibrate(seconds: float) -> float:
    """Round trips per second of ``json.loads(json.dumps(d))``, d a dict of 20 floats."""
    dice = Dice(key_of("calibration"))
    data = {f"key_{i}": 1000 * dice.unit() for i in range(20)}
    done = 0
    start = time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds or not done:
        for _ in range(200):
            json.loads(json.dumps(data))
        done += 200
    return done / elapsed


def _play(matrix: list[Scenario], seconds: float, look: Callable[[Env], object]) -> float:
    team = Team.of(load_policy("random"))
    rubric = standard()
    gc.collect()
    steps = 0
    start = time.perf_counter()
    source = cycle(matrix)
    while (elapsed := time.perf_counter() - start) < seconds or not steps:
        rollouts = [Rollout(Env(scenario, rubric), team) for scenario in islice(source, 64)]
        for rollout in rollouts:
            look(rollout.env)
        for turns in watch(rollouts):
            steps += len(turns)
            for i, turn in turns:
                if not turn.events.over:
                    look(rollouts[i].env)
    return steps / elapsed


def live_episode_bytes(matrix: list[Scenario], episodes: int = 50) -> int:
    """Memory of one finished episode, after every prompt was read once."""
    team = Team.of(load_policy("random"))
    rubric = standard()

    def fill() -> list[Rollout]:
        rollouts = [Rollout(Env(scenario, rubric), team) for scenario in matrix[-episodes:]]
        for turns in watch(rollouts):
            for i, _ in turns:
                render(rollouts[i].env.view)
        return rollouts

    fill()  # shared caches do not count
    gc.collect()
    tracemalloc.start()
    try:
        kept = fill()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] // len(kept)
    finally:
        tracemalloc.stop()
