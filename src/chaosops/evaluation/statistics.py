"""Means with honest intervals. A rate over nothing is None, never zero."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
import numpy.typing as npt

from chaosops.core.dice import STRIDE, key_of

RESAMPLES = 10_000
Z95 = 1.959963984540054  # 95 % of a normal distribution lies within so many deviations


def mean(values: Sequence[float]) -> float | None:
    """
    >>> mean([1, 2]), mean([])
    (1.5, None)
    """
    return round(float(sum(values)) / len(values), 6) if values else None


def bootstrap_ci95(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % percentile interval of the mean, the same on every machine.

    >>> bootstrap_ci95([5.0, 5.0, 5.0])
    (5.0, 5.0)
    """
    if not values:
        return None
    sample = np.asarray(values, dtype=np.float64)
    n = len(sample)
    means = np.empty(RESAMPLES)
    rows = max(1, 2_000_000 // n)  # bounds the memory of one batch of resamples
    for first in range(0, RESAMPLES, rows):
        last = min(first + rows, RESAMPLES)
        picks = _mixed(np.arange(first * n, last * n, dtype=np.uint64)) % np.uint64(n)
        means[first:last] = sample[picks.astype(np.intp)].reshape(-1, n).mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return round(float(low), 4), round(float(high), 4)


def share_ci95(hits: int, n: int) -> tuple[float, float] | None:
    """Wilson's 95 % interval of a share. Resampling nothing but misses would promise zero for
    ever; this says what so few episodes can rule out.

    >>> share_ci95(0, 75), share_ci95(0, 0)
    ((0.0, 0.0487), None)
    """
    if not n:
        return None
    square = Z95 * Z95
    centre = (hits + square / 2) / (n + square)
    half = Z95 * sqrt(hits * (n - hits) / n + square / 4) / (n + square)
    # Rounding must not push the share itself out of its interval.
    low = 0.0 if hits == 0 else round(centre - half, 4)
    high = 1.0 if hits == n else round(centre + half, 4)
    return low, high


def _mixed(counters: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """SplitMix64 over a whole array: numpy's own streams may change between its versions."""
    z = counters * np.uint64(STRIDE) + np.uint64(key_of("bootstrap"))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
