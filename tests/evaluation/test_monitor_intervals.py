"""How far the figures of a monitor may lie from the truth."""

from __future__ import annotations

import tracemalloc
from time import process_time

import numpy as np
import pytest

from chaosops.core.dice import STRIDE, key_of, mix
from chaosops.evaluation.monitor import monitor_summary
from chaosops.evaluation.resampling import RESAMPLES, bca_ci95, mixed, resampled
from tests.evaluation.test_monitor import case, random_cases


def test_intervals_hold_the_value_and_shrink_with_more_episodes() -> None:
    small, large = (monitor_summary(random_cases(n, seed=4)) for n in (60, 600))
    names = ("rogue_caught", "precision", "auroc_turn_1", "brier_turn_3", "right_agent_turn_3")
    for name in (*names, "reward"):
        widths = []
        for summary in (small, large):
            low, high = summary[name]["ci95"]
            assert low < summary[name]["value"] < high
            widths.append(high - low)
        assert widths[1] < 0.6 * widths[0]


@pytest.mark.parametrize("seed", range(12))
def test_no_value_lies_outside_its_interval(seed: int) -> None:
    """ECE said 0.095 [0.096, 0.150]."""
    n = (12, 25, 60, 220)[seed % 4]
    for figure in monitor_summary(random_cases(n, seed, skill=seed / 3)).values():
        if isinstance(figure, dict) and figure["ci95"] is not None:
            low, high = figure["ci95"]
            assert low <= figure["value"] <= high
            assert low < high


def test_a_resample_draws_as_many_episodes_as_there_are() -> None:
    drawn = resampled(40, 0, RESAMPLES)
    assert drawn.shape == (RESAMPLES, 40)
    assert (drawn.sum(axis=1) == 40).all()
    assert drawn.mean(axis=0) == pytest.approx(np.ones(40), abs=0.1)
    assert len(np.unique(drawn, axis=0)) == RESAMPLES
    # Batches are an implementation detail: they must not change what is drawn.
    halves = [resampled(40, 0, 700), resampled(40, 700, RESAMPLES)]
    assert (np.concatenate(halves) == drawn).all()


def test_resamples_are_drawn_from_our_own_generator() -> None:
    numbers = mixed(np.arange(4, dtype=np.uint64))
    assert [int(n) for n in numbers] == [mix(key_of("bootstrap") + i * STRIDE) for i in range(4)]


def test_the_resampled_intervals_are_those_of_our_own_dice() -> None:
    """Resample by resample and without numpy: the same numbers on every machine."""
    n = 30
    cases = [
        case(i, "a" if i % 2 else None, suspicion={"a": (i * 7 % 20) / 20, "b": (i % 5) / 10})
        for i in range(n)
    ]
    # What each episode adds to the gap of each bin, also less the mean over the episodes.
    gaps = [[0.0] * n for _ in range(10)]
    for i, one in enumerate(cases):
        for name, p in one.suspicion().items():
            gaps[int(p * 10)][i] += p - (name == one.rogue)
    centred = [[gap - sum(row) / n for gap in row] for row in gaps]
    found: list[float] = []
    by_chance: list[float] = []
    for r in range(RESAMPLES):
        picks = [mix(key_of("bootstrap") + (r * n + j) * STRIDE) % n for j in range(n)]
        for drawn, rows in ((found, gaps), (by_chance, centred)):
            drawn.append(sum(abs(sum(row[pick] for pick in picks)) for row in rows) / (2 * n))
    summary = monitor_summary(cases)
    assert summary == monitor_summary(cases)
    value = summary["ece_turn_3"]["value"]
    low, high = np.percentile(found, [2.5, 97.5])
    least = 0.0 if value <= np.percentile(by_chance, 97.5) else max(0.0, 2 * value - high)
    basic = [least, max(value, 2 * value - low)]
    assert summary["ece_turn_3"]["ci95"] == pytest.approx(basic, abs=0.5001e-4)


def test_a_summary_of_6000_episodes_is_quick_and_small() -> None:
    """3,000 benign episodes: what TPR at 0.1 % FPR needs. Once it took 1.7 GB."""
    cases = random_cases(6000, skill=3.0)
    tracemalloc.start()
    start = process_time()
    summary = monitor_summary(cases)
    assert process_time() - start < 60  # seven seconds on an idle machine
    assert tracemalloc.get_traced_memory()[1] < 600e6
    tracemalloc.stop()
    assert summary["tpr_at_01pct_fpr_turn_1"]["ci95"] is not None


@pytest.mark.parametrize(("benign", "rate"), [(200, "1pct"), (2000, "01pct")])
def test_a_rate_has_an_interval_where_it_allows_two_false_alarms(benign: int, rate: str) -> None:
    guilty = [case(i, "a", suspicion={"a": i / 40}) for i in range(40)]
    innocent = [case(i, suspicion={"a": 0.7 * i / benign}) for i in range(40, 40 + benign)]
    name = f"tpr_at_{rate}_fpr_turn_1"
    enough, few = monitor_summary([*guilty, *innocent]), monitor_summary([*guilty, *innocent[1:]])
    low, high = enough[name]["ci95"]
    assert low < enough[name]["value"] < high
    assert few[name]["value"] is not None
    assert few[name]["ci95"] is None


def test_the_jackknife_leaves_each_episode_out_once() -> None:
    """In batches, because all at once need memory that grows with the square of the episodes."""
    n = 700  # several batches
    seen: list[np.ndarray] = []

    def first_of(weights: np.ndarray) -> np.ndarray:
        if (weights.sum(axis=1) == n - 1).all():
            seen.append(weights)
        return weights[:, 0].astype(np.float64)

    bca_ci95(n, first_of)
    assert len(seen) > 1
    assert (np.concatenate(seen) == 1 - np.eye(n, dtype=np.int64)).all()
