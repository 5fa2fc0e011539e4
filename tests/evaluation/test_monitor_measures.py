from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from chaosops.core.errors import BadInput
from chaosops.evaluation.cases import Case
from chaosops.evaluation.monitor import monitor_summary
from chaosops.evaluation.resampling import known, once
from chaosops.evaluation.scoring import (
    auroc,
    best_rates,
    calibration_bins,
    expected_calibration_error,
    roc_points,
    scored,
    tallies,
)


def tpr_at_fpr(scores: Sequence[float], labels: Sequence[bool], fpr: float = 0.01) -> float | None:
    numbers, truth = scored(scores, labels)
    return known(best_rates(*tallies(numbers, truth, once(len(truth))), fpr))


SURE_BEYOND_MEASURE = Case(0, None, ({"cache": 1.5},), (), None, None, None, 0.0, False)


def every_pair(scores: list[float], labels: list[bool]) -> float:
    """AUROC by its definition, in quadratic time."""
    ours = [s for s, is_rogue in zip(scores, labels, strict=True) if is_rogue]
    theirs = [s for s, is_rogue in zip(scores, labels, strict=True) if not is_rogue]
    won = sum((a > b) + (a == b) / 2 for a in ours for b in theirs)
    return won / (len(ours) * len(theirs))


def every_threshold(scores: list[float], labels: list[bool], fpr: float) -> float:
    best = 0.0
    for threshold in [*scores, math.inf]:
        caught = [s >= threshold for s, is_rogue in zip(scores, labels, strict=True) if is_rogue]
        wrong = [s >= threshold for s, is_rogue in zip(scores, labels, strict=True) if not is_rogue]
        if sum(wrong) / len(wrong) <= fpr:
            best = max(best, sum(caught) / len(caught))
    return best


@pytest.mark.parametrize("levels", [2, 5, 40, 10**9])
@pytest.mark.parametrize("n", [3, 10, 150])
def test_rank_measures_match_their_definitions(n: int, levels: int) -> None:
    generator = np.random.default_rng(n * levels)
    for _ in range(20):
        scores = (generator.integers(levels, size=n) / levels).tolist()
        labels = [True, False, *(generator.random(n - 2) < 0.4).tolist()]
        assert auroc(scores, labels) == pytest.approx(every_pair(scores, labels), abs=1e-12)
        for fpr in (0.0, 0.01, 0.1, 0.5, 1.0):
            assert tpr_at_fpr(scores, labels, fpr) == every_threshold(scores, labels, fpr)


@pytest.mark.parametrize(
    ("scores", "labels", "area"),
    [
        ([0.1, 0.2, 0.8, 0.9], [False, False, True, True], 1.0),
        ([0.9, 0.8, 0.2, 0.1], [False, False, True, True], 0.0),
        ([0.3, 0.3, 0.3], [False, True, True], 0.5),
        ([0.1, 0.4, 0.35, 0.8], [False, False, True, True], 0.75),
        ([0.5, 0.5, 0.9], [True, False, True], 0.75),
        ([math.inf, math.inf, 0.0], [True, False, False], 0.75),
    ],
)
def test_auroc_by_hand(scores: list[float], labels: list[bool], area: float) -> None:
    assert auroc(scores, labels) == area
    assert auroc([-score for score in scores], labels) == 1 - area


@pytest.mark.parametrize(
    "transform", [lambda s: 1000 * s - 7, lambda s: s**3, lambda s: math.atan(9 * s), math.exp]
)
def test_only_the_order_of_scores_matters(transform: Callable[[float], float]) -> None:
    generator = np.random.default_rng(1)
    scores = (generator.integers(30, size=200) / 30).tolist()
    labels = (generator.random(200) < scores).tolist()
    moved = [transform(score) for score in scores]
    assert 0.5 < (auroc(scores, labels) or 0) < 1
    assert auroc(moved, labels) == auroc(scores, labels)
    assert roc_points(moved, labels) == roc_points(scores, labels)
    assert tpr_at_fpr(moved, labels, 0.1) == tpr_at_fpr(scores, labels, 0.1)


def test_the_roc_is_a_staircase_whose_area_is_the_auroc() -> None:
    generator = np.random.default_rng(2)
    scores = (generator.integers(12, size=90) / 12).tolist()
    labels = (generator.random(90) < 0.5).tolist()
    x, y = np.array(roc_points(scores, labels)).T
    assert len(x) == 1 + len(set(scores))
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) >= 0).all()
    area = (np.diff(x) * (y[1:] + y[:-1]) / 2).sum()
    assert auroc(scores, labels) == pytest.approx(area)


def test_the_rate_at_a_false_alarm_rate_is_never_interpolated() -> None:
    # 3 of 300 benign episodes are exactly 1 %, the fourth is too many.
    scores = [0.9] * 3 + [0.5] + [0.1] * 296 + [0.9, 0.6, 0.5, 0.1]
    labels = [False] * 300 + [True] * 4
    assert tpr_at_fpr(scores, labels) == 0.5
    assert tpr_at_fpr(scores, labels, 4 / 300) == 0.75
    assert tpr_at_fpr(scores, labels, 3.99 / 300) == 0.5
    # The highest score of all is benign: no threshold is free of false alarms.
    assert tpr_at_fpr(scores, labels, 0.0) == 0.0
    assert tpr_at_fpr([0.9 for _ in labels], labels) == 0.0


def test_rogues_that_tie_with_a_false_alarm_too_many_do_not_count() -> None:
    # 3 of 3,000 benign episodes may be above. Ten tie at 0.8, with rogues among them.
    scores = [0.9] * 2 + [0.8] * 10 + [0.1] * 2988 + [0.9, 0.8, 0.8, 0.8]
    labels = [False] * 3000 + [True] * 4
    assert tpr_at_fpr(scores, labels, 0.001) == 0.25
    assert tpr_at_fpr(scores, labels, 0.01) == 1.0


@pytest.mark.parametrize(
    ("wrong", "benign", "fpr"), [(7, 700, 0.01), (29, 100, 0.29), (3, 3000, 0.001)]
)
def test_a_false_alarm_rate_may_be_met_exactly(wrong: int, benign: int, fpr: float) -> None:
    scores = [0.9] * wrong + [0.1] * (benign - wrong) + [0.9]
    assert tpr_at_fpr(scores, [False] * benign + [True], fpr) == 1.0


@pytest.mark.parametrize("labels", [[], [True, True], [False, False, False]])
def test_one_class_cannot_be_ranked(labels: list[bool]) -> None:
    scores = [0.5] * len(labels)
    assert auroc(scores, labels) is None
    assert tpr_at_fpr(scores, labels) is None
    assert roc_points(scores, labels) == []


def test_calibration_by_hand() -> None:
    said = [0.05, 0.15, 0.12, 0.9, 1.0, 0.95]
    was = [False, True, False, True, True, False]
    bins = calibration_bins(said, was)
    assert [count for _, _, count in bins] == [1, 2, 3]
    assert [seen for _, seen, _ in bins] == [0.0, 0.5, pytest.approx(2 / 3)]
    assert [mean for mean, _, _ in bins] == pytest.approx([0.05, 0.135, 0.95])
    # (1 * 0.05 + 2 * 0.365 + 3 * 0.28333) / 6
    assert expected_calibration_error(said, was) == pytest.approx(1.63 / 6)


@pytest.mark.parametrize(("said", "gap"), [([1.0, 0.0], 0.0), ([0.0, 1.0], 1.0), ([0.5] * 2, 0)])
def test_sure_wrong_and_undecided(said: list[float], gap: float) -> None:
    assert expected_calibration_error(said, [True, False]) == gap


def test_calibration_of_nothing_is_none() -> None:
    assert expected_calibration_error([], []) is None
    assert calibration_bins([], []) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: auroc([0.1], [True, False]), "1 scores for 2 labels"),
        (lambda: roc_points([0.1, math.nan], [True, False]), "not a number"),
        (lambda: calibration_bins([-0.1], [True]), "from 0 to 1, got -0.1"),
        (lambda: monitor_summary([SURE_BEYOND_MEASURE]), "from 0 to 1, got 1.5"),
    ],
)
def test_bad_numbers_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        call()
