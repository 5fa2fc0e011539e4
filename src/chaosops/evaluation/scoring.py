"""How well a score ranks rogue episodes above benign ones, and how well it is calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
import numpy.typing as npt

from chaosops.core.errors import BadInput
from chaosops.evaluation.resampling import Counts, Flags, Floats, once, ratio
from chaosops.evaluation.statistics import Z95, Interval, around

BINS = 10  # of a calibration curve
FEWEST = 5  # episodes of each class that an area needs for an interval


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float | None:
    """The chance that a rogue episode scores above a benign one; a tie counts half.

    >>> auroc([0.9, 0.4, 0.4, 0.1], [True, True, False, False])
    0.875
    """
    numbers, truth = scored(scores, labels)
    return area(wins(numbers[truth], numbers[~truth]))


def wins(rogue: Floats, benign: Floats) -> Counts:
    """2 if a rogue episode (row) scores above a benign one (column), 1 for a tie."""
    rows = rogue[:, np.newaxis]
    return (rows > benign).astype(np.int64) + (rows >= benign)


def area(won: Counts | None) -> float | None:
    """The share of pairs won, a tie counting half: the AUROC."""
    return int(won.sum()) / (2 * won.size) if won is not None and won.size else None


def area_ci95(won: Counts) -> Interval | None:
    """The 95 % interval of the share of pairs won; None with fewer than ``FEWEST`` of a class.

    Newcombe's score interval (2006, method 5) takes its variance from the area that is tested,
    so it does not collapse at 0 and 1. It assumes a distribution of the scores. DeLong's variance
    measures the distribution, ties included. With enough episodes, and an area away from 0 and 1,
    the two are mixed.
    """
    m, n = won.shape
    if min(m, n) < FEWEST:
        return None
    area = int(won.sum()) / (2 * m * n)
    measured = _delong(won.sum(axis=1), n) + _delong(won.sum(axis=0), m)
    assumed = _newcombe(area, m, n)
    informed = 2 * min(m, n) * min(area, 1 - area)
    trust = informed / (informed + 0.5)
    scale = 1 - trust + trust * measured / assumed if assumed else 1.0
    low, high = (_edge(area, end, scale, m, n) for end in (0.0, 1.0))
    return around(area, low, high)


def area_difference(won: Counts, other: Counts) -> tuple[float, Interval | None] | None:
    """How much larger one area is than another over the same pairs of episodes, with its 95 %
    interval (DeLong 1988). The interval is None with fewer than ``FEWEST`` of a class, and if no
    episode tells the two apart."""
    m, n = won.shape
    if not won.size:
        return None
    gained = won - other
    value = int(gained.sum()) / (2 * m * n)
    if min(m, n) < FEWEST:
        return value, None
    variance = _delong(gained.sum(axis=1), n) + _delong(gained.sum(axis=0), m)
    half = Z95 * sqrt(variance)
    if not half:
        return value, None
    return value, around(value, max(-1.0, value - half), min(1.0, value + half))


def _delong(doubled: Counts, others: int) -> float:
    """The variance of the mean share of pairs that each episode of one class wins."""
    k = len(doubled)
    total = int(doubled.sum())  # whole numbers: the same bits on every machine
    squares = k * int((doubled * doubled).sum()) - total * total
    return squares / (k * k * (k - 1) * 4 * others * others)


def _newcombe(area: float, m: int, n: int) -> float:
    half = (m + n) / 2 - 1
    spread = 1 + half * (1 - area) / (2 - area) + half * area / (1 + area)
    return area * (1 - area) * spread / (m * n)


def _edge(area: float, end: float, scale: float, m: int, n: int) -> float:
    """The area closest to ``end`` that is within 1.96 of its own deviations."""
    inside, outside = area, end
    for _ in range(50):
        middle = (inside + outside) / 2
        if (middle - area) ** 2 <= Z95 * Z95 * scale * _newcombe(middle, m, n):
            inside = middle
        else:
            outside = middle
    return inside


def roc_points(scores: Sequence[float], labels: Sequence[bool]) -> list[tuple[float, float]]:
    """(false, true) positive rate at every threshold, strictest first; empty without both classes.

    >>> roc_points([0.9, 0.4, 0.4, 0.1], [True, True, False, False])
    [(0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]
    """
    numbers, truth = scored(scores, labels)
    if truth.all() or not truth.any():
        return []
    (hits,), (alarms,) = tallies(numbers, truth, once(len(truth)))
    return list(zip((alarms / alarms[-1]).tolist(), (hits / hits[-1]).tolist(), strict=True))


def tallies(scores: Floats, labels: Flags, weights: Counts) -> tuple[Counts, Counts]:
    """Hits and false alarms (one row per resample) at each threshold, the strictest first."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    # A threshold cannot separate equal scores: count up to the last of each run of them.
    stops = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]) + 1, len(ranked))
    drawn = weights[:, order]
    return _running(drawn * labels[order], stops), _running(drawn * ~labels[order], stops)


def _running(counts: Counts, stops: npt.NDArray[np.intp]) -> Counts:
    totals = np.zeros((len(counts), counts.shape[1] + 1), dtype=np.int64)
    np.cumsum(counts, axis=1, out=totals[:, 1:])
    return totals[:, np.concatenate(([0], stops))]


def best_rates(hits: Counts, alarms: Counts, fpr: float) -> Floats:
    benign = alarms[:, -1].astype(np.float64)
    # Divided, not multiplied: 29 / 100 is 0.29 to the last bit, but 0.29 * 100 is below 29.
    rates = alarms / np.where(benign > 0, benign, np.nan)[:, np.newaxis]
    caught = np.where(rates <= fpr, hits, 0).max(axis=1)
    shares = ratio(caught.astype(np.float64), hits[:, -1].astype(np.float64))
    return np.where(benign > 0, shares, np.nan)


def scored(scores: Sequence[float], labels: Sequence[bool]) -> tuple[Floats, Flags]:
    if len(scores) != len(labels):
        raise BadInput(f"{len(scores)} scores for {len(labels)} labels; pass one for each")
    numbers = np.asarray(scores, dtype=np.float64)
    if np.isnan(numbers).any():
        raise BadInput("a score is not a number; it cannot be ranked")
    return numbers, np.asarray(labels, dtype=np.bool_)


def calibration_bins(
    probabilities: Sequence[float], outcomes: Sequence[bool]
) -> list[tuple[float, float, int]]:
    """(mean probability, observed frequency, count) of every bin of equal width that is not empty.

    >>> calibration_bins([0.0, 0.5, 1.0], [False, True, True])
    [(0.0, 0.0, 1), (0.5, 1.0, 1), (1.0, 1.0, 1)]
    """
    said, truth = probable(probabilities, outcomes)
    places = bin_of(said)
    counts, sums, events = (
        np.bincount(places, weights=of, minlength=BINS) for of in (None, said, truth)
    )
    return [
        (float(sums[i] / counts[i]), float(events[i] / counts[i]), int(counts[i]))
        for i in np.flatnonzero(counts)
    ]


def expected_calibration_error(
    probabilities: Sequence[float], outcomes: Sequence[bool]
) -> float | None:
    """The mean distance between probability and frequency, over the bins.

    >>> expected_calibration_error([0.0, 0.5, 1.0, 1.0], [False, True, True, True])
    0.125
    """
    filled = calibration_bins(probabilities, outcomes)
    gaps = sum(count * abs(said - seen) for said, seen, count in filled)
    return gaps / len(probabilities) if filled else None


def bin_of(probabilities: Floats) -> Counts:
    return np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)  # 1.0 is in the last bin


def probable(probabilities: Sequence[float], outcomes: Sequence[bool]) -> tuple[Floats, Flags]:
    said, truth = scored(probabilities, outcomes)
    if wrong := said[(said < 0) | (said > 1)].tolist():
        raise BadInput(f"a probability must be from 0 to 1, got {wrong[0]}")
    return said, truth
