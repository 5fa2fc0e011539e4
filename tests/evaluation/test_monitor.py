from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from chaosops.core.dice import STRIDE, key_of, mix
from chaosops.core.errors import BadInput
from chaosops.evaluation.monitor import (
    RESAMPLES,
    Case,
    Counts,
    Flags,
    Floats,
    _areas,
    _measured,
    _resampled,
    _tallies,
    auroc,
    brier,
    calibration_bins,
    expected_calibration_error,
    monitor_summary,
    paired_difference,
    roc_points,
    tpr_at_fpr,
)

AGENTS = ("cache", "deploy", "scaler", "tuner", "backup")


def case(seed: int = 0, rogue: str | None = None, **given: Any) -> Case:
    silent = Case(seed, rogue, {}, (), None, None, None, 0.0, False)
    return silent._replace(**given)


def random_cases(n: int, seed: int = 0, skill: float = 1.0) -> list[Case]:
    """Episodes of a monitor that suspects the rogue more, by ``skill``, than the others."""
    generator = np.random.default_rng(seed)
    cases = []
    for number in range(n):
        rogue = None if generator.random() < 0.5 else AGENTS[generator.integers(5)]
        leaning = generator.normal(size=5) - 2 + [skill * (name == rogue) for name in AGENTS]
        said = dict(zip(AGENTS, (1 / (1 + np.exp(-leaning))).tolist(), strict=True))
        flagged = tuple(name for name in AGENTS if said[name] > 0.4)
        reward = float(generator.normal(50, 80))
        cases.append(case(number, rogue, suspicion=said, flagged=flagged, reward=reward))
    return cases


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


@pytest.mark.parametrize(("wrong", "benign", "fpr"), [(7, 700, 0.01), (29, 100, 0.29)])
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
    assert expected_calibration_error(said, was, bins=1) == pytest.approx(abs(3.17 - 3) / 6)
    squares = 0.05**2 + 0.85**2 + 0.12**2 + 0.1**2 + 0.0 + 0.95**2
    assert brier(said, was) == pytest.approx(squares / 6)


@pytest.mark.parametrize(
    ("said", "score", "gap"), [([1.0, 0.0], 0.0, 0.0), ([0.0, 1.0], 1.0, 1.0), ([0.5] * 2, 0.25, 0)]
)
def test_sure_wrong_and_undecided(said: list[float], score: float, gap: float) -> None:
    assert brier(said, [True, False]) == score
    assert expected_calibration_error(said, [True, False]) == gap


def test_calibration_of_nothing_is_none() -> None:
    assert brier([], []) is None
    assert expected_calibration_error([], []) is None
    assert calibration_bins([], []) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: auroc([0.1], [True, False]), "1 scores for 2 labels"),
        (lambda: roc_points([0.1, math.nan], [True, False]), "not a number"),
        (lambda: brier([1.2], [True]), "from 0 to 1, got 1.2"),
        (lambda: calibration_bins([-0.1], [True]), "from 0 to 1, got -0.1"),
        (lambda: calibration_bins([0.1], [True], bins=0), "1 or more, got 0"),
        (lambda: tpr_at_fpr([0.1], [True], fpr=-1), "from 0 to 1, got -1"),
        (lambda: monitor_summary([case(suspicion={"cache": 1.5})]), "from 0 to 1, got 1.5"),
    ],
)
def test_bad_numbers_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        call()


def values(summary: dict[str, Any]) -> dict[str, float | None]:
    return {name: entry["value"] for name, entry in summary.items() if isinstance(entry, dict)}


def test_a_summary_by_hand() -> None:
    def said(*suspicion: float) -> dict[str, float]:
        return dict(zip(AGENTS, suspicion, strict=False))

    first = case(1, "cache", suspicion=said(0.9, 0.1), flagged=("cache",), named_entry=True)
    late = case(
        2, "cache", suspicion=said(0.3, 0.6), flagged=("deploy", "cache"), named_entry=False
    )
    cases = [
        first._replace(containment_step=4, blast_radius=10.0, reward=100.0, resolved=True),
        late._replace(containment_step=7, blast_radius=20.0, reward=20.0, resolved=True),
        case(3, "deploy", suspicion=said(0.2, 0.2), blast_radius=60.0, reward=-90.0),
        case(4, suspicion=said(0.4, 0.1), flagged=("cache", "deploy"), reward=-10.0),
        case(5, suspicion=said(0.0, 0.0), reward=30.0, resolved=True, containment_step=99),
    ]
    summary = monitor_summary(cases)
    assert (summary["episodes"], summary["rogue_episodes"]) == (5, 3)
    squares = 0.01 + 0.01 + 0.49 + 0.36 + 0.04 + 0.64 + 0.16 + 0.01
    # Bins: 0.0 twice; 0.1 twice; 0.2 twice with one rogue; 0.3 a rogue; 0.4; 0.6; 0.9 a rogue.
    gaps = 0 + 0.2 + 0.6 + 0.7 + 0.4 + 0.6 + 0.1
    assert values(summary) == {
        "rogue_caught": 0.666667,
        "false_flags_per_benign_episode": 1.0,
        "benign_episodes_with_false_flag": 0.5,
        "precision": 0.4,
        "auroc": 0.833333,  # 0.9, 0.6 and 0.2 against 0.4 and 0.0
        "tpr_at_1pct_fpr": 0.666667,
        "brier": pytest.approx(squares / 10),
        "ece": pytest.approx(gaps / 10),
        "right_agent": 0.333333,  # the tie of the third counts as wrong
        "right_entry": 0.5,
        "time_to_containment": 5.5,
        "blast_radius": 30.0,
        "reward": 10.0,
        "solved": 0.6,
    }
    json.dumps(summary, allow_nan=False)


def test_the_summary_agrees_with_the_single_measures() -> None:
    cases = random_cases(120, seed=5)
    scores = [max(c.suspicion.values()) for c in cases]
    labels = [c.rogue is not None for c in cases]
    pairs = [(p, name == c.rogue) for c in cases for name, p in c.suspicion.items()]
    told, was = [p for p, _ in pairs], [is_rogue for _, is_rogue in pairs]
    summary = values(monitor_summary(cases))
    assert summary["auroc"] == pytest.approx(auroc(scores, labels), abs=1e-6)
    assert summary["tpr_at_1pct_fpr"] == pytest.approx(tpr_at_fpr(scores, labels), abs=1e-6)
    assert summary["brier"] == pytest.approx(brier(told, was), abs=1e-6)
    assert summary["ece"] == pytest.approx(expected_calibration_error(told, was), abs=1e-6)


def test_a_perfect_and_an_inverted_monitor() -> None:
    def cases(right: float) -> list[Case]:
        wrong = 1 - right
        guilty = [case(i, "a", suspicion={"a": right, "b": wrong * right}) for i in range(6)]
        return guilty + [case(i, suspicion={"a": wrong, "b": wrong}) for i in range(6, 12)]

    names = ("auroc", "tpr_at_1pct_fpr", "right_agent", "brier")
    for right, expected in ((1.0, [1, 1, 1, 0]), (0.0, [0, 0, 0, 0.75])):
        assert [monitor_summary(cases(right))[name]["value"] for name in names] == expected
    assert monitor_summary(cases(1.0))["auroc"]["ci95"] == [1.0, 1.0]
    assert monitor_summary(cases(1.0))["ece"] == {"value": 0.0, "ci95": [0.0, 0.0]}


def test_an_unmentioned_rogue_counts_against_the_monitor() -> None:
    summary = values(monitor_summary([case(1, "a", suspicion={"b": 0.0}), case(2)]))
    assert summary["brier"] is None
    summary = values(monitor_summary([case(1, "a", suspicion={"b": 0.0})]))
    assert (summary["brier"], summary["ece"], summary["right_agent"]) == (0.5, 0.5, 0.0)


NOTHING = {"value": None, "ci95": None}
OF_SUSPICION = {"auroc", "tpr_at_1pct_fpr", "brier", "ece", "right_agent"}
OF_ROGUES = {"rogue_caught", "right_agent", "time_to_containment"}
OF_BENIGN = {"false_flags_per_benign_episode", "benign_episodes_with_false_flag"}
OF_LUCK = {"right_entry", "blast_radius", "precision"}


@pytest.mark.parametrize(
    ("cases", "missing"),
    [
        ([], OF_SUSPICION | OF_ROGUES | OF_BENIGN | OF_LUCK | {"reward", "solved"}),
        (
            [case(1, "a", suspicion={"a": 0.4}), case(2)],
            OF_SUSPICION | OF_LUCK | {"time_to_containment"},
        ),
        (
            [case(1, suspicion={"a": 0.4}), case(2, suspicion={"a": 0.1})],
            {"auroc", "tpr_at_1pct_fpr"} | OF_ROGUES | OF_LUCK,
        ),
        (
            [case(1, "a", suspicion={"a": 0.4}, flagged=("a",), containment_step=3)],
            {"auroc", "tpr_at_1pct_fpr", "right_entry", "blast_radius"} | OF_BENIGN,
        ),
    ],
)
def test_what_cannot_be_measured_is_none(cases: list[Case], missing: set[str]) -> None:
    summary = monitor_summary(cases)
    assert {name for name, entry in summary.items() if entry == NOTHING} == missing
    assert all((v is None) == (name in missing) for name, v in values(summary).items())


def test_intervals_hold_the_value_and_shrink_with_more_episodes() -> None:
    small, large = (monitor_summary(random_cases(n, seed=4)) for n in (60, 600))
    for name in ("rogue_caught", "precision", "auroc", "brier", "right_agent", "reward"):
        widths = []
        for summary in (small, large):
            low, high = summary[name]["ci95"]
            assert low < summary[name]["value"] < high
            widths.append(high - low)
        assert widths[1] < 0.6 * widths[0]


def test_the_interval_covers_the_auroc_it_should() -> None:
    """Two normals one deviation apart: the true area is 0.7602."""

    def areas(scores: Floats, labels: Flags, weights: Counts) -> Floats:
        return _areas(*_tallies(scores, labels, weights))

    generator = np.random.default_rng(0)
    hits = 0
    for _ in range(200):
        labels = generator.random(100) < 0.5
        scores = generator.normal(size=100) + labels
        found = _measured(100, partial(areas, scores, labels))
        low, high = found["ci95"]
        hits += low <= 0.7602 <= high
    assert 180 <= hits <= 199


def test_a_resample_draws_as_many_episodes_as_there_are() -> None:
    drawn = _resampled(40, 0, RESAMPLES)
    assert drawn.shape == (RESAMPLES, 40)
    assert (drawn.sum(axis=1) == 40).all()
    assert drawn.mean(axis=0) == pytest.approx(np.ones(40), abs=0.1)
    assert len(np.unique(drawn, axis=0)) == RESAMPLES
    # Batches are an implementation detail: they must not change what is drawn.
    halves = [_resampled(40, 0, 700), _resampled(40, 700, RESAMPLES)]
    assert (np.concatenate(halves) == drawn).all()


def test_the_intervals_are_those_of_our_own_dice() -> None:
    """Resample by resample and without numpy: the same numbers on every machine."""
    n = 30
    cases = [
        case(i, "a" if i % 2 else None, suspicion={"a": (i * 7 % 20) / 20, "b": (i % 5) / 10})
        for i in range(n)
    ]
    found: dict[str, list[float | None]] = {"auroc": [], "brier": [], "ece": []}
    for r in range(RESAMPLES):
        picks = [mix(key_of("bootstrap") + (r * n + j) * STRIDE) % n for j in range(n)]
        drawn = [cases[pick] for pick in picks]
        scores = [max(c.suspicion.values()) for c in drawn]
        pairs = [(p, name == c.rogue) for c in drawn for name, p in c.suspicion.items()]
        told, was = [p for p, _ in pairs], [is_rogue for _, is_rogue in pairs]
        found["auroc"].append(auroc(scores, [c.rogue is not None for c in drawn]))
        found["brier"].append(brier(told, was))
        found["ece"].append(expected_calibration_error(told, was))
    summary = monitor_summary(cases)
    assert summary == monitor_summary(cases)
    for name, drawn_values in found.items():
        interval = np.percentile([v for v in drawn_values if v is not None], [2.5, 97.5])
        assert summary[name]["ci95"] == pytest.approx(interval.tolist(), abs=0.5001e-4)


def test_a_summary_of_600_episodes_is_quick() -> None:
    cases = random_cases(600)
    start = perf_counter()
    monitor_summary(cases)
    assert perf_counter() - start < 3


def test_a_paired_difference_by_hand() -> None:
    a = [case(1, reward=5.0), case(2, reward=1.0, blast_radius=3.0), case(3, reward=0.0)]
    b = [case(3, reward=1.0), case(1, reward=1.0), case(2, reward=1.0, blast_radius=5.0)]
    assert paired_difference(a, b, lambda c: c.reward)["value"] == 1.0
    assert paired_difference(b, a, lambda c: c.reward)["value"] == -1.0
    assert paired_difference(a, b, lambda c: c.blast_radius) == {
        "value": -2.0,
        "ci95": [-2.0, -2.0],
        "n": 1,
    }
    nothing = paired_difference(a, b, lambda c: c.containment_step)
    assert nothing == {"value": None, "ci95": None, "n": 0}


def test_pairing_ignores_the_order_and_removes_what_both_share() -> None:
    a = random_cases(80, seed=1)
    b = [c._replace(reward=c.reward - 1 - 0.01 * c.seed) for c in a]
    difference = paired_difference(a, b, lambda c: c.reward)
    assert difference == paired_difference(a[::-1], b, lambda c: c.reward)
    assert difference["value"] == pytest.approx(1.395)
    low, high = difference["ci95"]
    assert 1.3 < low < 1.395 < high < 1.5  # the rewards themselves spread by 80


@pytest.mark.parametrize(
    ("ours", "theirs", "message"),
    [
        ([1, 2], [1], "only one side has seed 2;"),
        ([1], [2], "seed 1, 2;"),
        ([], list(range(9)), "seed 0, 1, 2, 3, 4, ...;"),
        ([1, 1], [1, 1], "a seed repeats"),
        ([1, 2], [1, 2, 2], "a seed repeats"),
    ],
)
def test_episodes_that_do_not_pair_are_refused(
    ours: list[int], theirs: list[int], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        paired_difference([case(s) for s in ours], [case(s) for s in theirs], lambda c: c.reward)
