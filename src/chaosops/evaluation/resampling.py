"""The bootstrap over episodes. No library is used: with the project's dice, every machine computes
the same intervals."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from chaosops.core.dice import STRIDE, key_of
from chaosops.evaluation.statistics import Z95, Interval, around

RESAMPLES = 2_000
_CELLS = 100_000  # episodes of one batch of resamples
FEWEST = 20  # episodes that a resampled statistic needs for an interval

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
# Takes how often each resample (row) drew each episode (column). Returns a number per resample.
Statistic = Callable[[Counts], Floats]


def bca_ci95(n: int, statistic: Statistic) -> Interval | None:
    """The 95 % interval of a statistic of ``n`` episodes, corrected for bias and acceleration
    (Efron 1987). None with fewer than ``FEWEST`` episodes, and if all resamples are equal."""
    value, drawn = _value(n, statistic), _drawn(n, statistic)
    if value is None or drawn is None:
        return None
    normal = NormalDist()
    below = ((drawn < value).sum() + 0.5 * (drawn == value).sum()) / len(drawn)
    bias = normal.inv_cdf(min(max(float(below), 0.5 / RESAMPLES), 1 - 0.5 / RESAMPLES))
    left_out = _batched(n, n, statistic, _all_but_one)
    away = np.nanmean(left_out) - left_out[~np.isnan(left_out)]
    spread = float((away**2).sum()) ** 1.5
    lean = float((away**3).sum()) / (6 * spread) if spread else 0.0
    shares = [normal.cdf(bias + (bias + z) / (1 - lean * (bias + z))) for z in (-Z95, Z95)]
    low, high = np.quantile(drawn, shares)
    return around(value, float(low), float(high))


def distance_ci95(n: int, distance: Statistic, chance: Statistic) -> Interval | None:
    """The 95 % interval of a distance. Noise makes a distance larger, never smaller.

    The basic bootstrap is used: the value is assumed to exceed the truth by as much as resamples
    exceed the value. ``chance`` is the distance in resamples whose true distance is zero. If it
    reaches the value, the interval includes zero. The value is always in the interval, at the
    upper end if the truth is small.
    """
    value, drawn = _value(n, distance), _drawn(n, distance)
    if value is None or drawn is None:
        return None
    least, most = np.percentile(drawn, [2.5, 97.5])
    by_chance = np.percentile(bootstrapped(n, chance), 97.5)
    low = 0.0 if value <= by_chance else max(0.0, 2 * value - float(most))
    return around(value, low, 2 * value - float(least))


def _value(n: int, statistic: Statistic) -> float | None:
    return known(statistic(once(n))) if n else None


def _drawn(n: int, statistic: Statistic) -> Floats | None:
    """The statistic of every resample that has one. None if they are too few or all equal."""
    if n < FEWEST:
        return None
    drawn = bootstrapped(n, statistic)
    drawn = drawn[~np.isnan(drawn)]
    return drawn if len(drawn) and drawn.min() < drawn.max() else None


def bootstrapped(n: int, statistic: Statistic) -> Floats:
    """The statistic of every resample of ``n`` episodes. NaN if it cannot be computed."""
    return _batched(n, RESAMPLES, statistic, resampled)


def _batched(
    n: int, count: int, statistic: Statistic, drawn: Callable[[int, int, int], Counts]
) -> Floats:
    """The statistic of ``count`` samples. A batch of them fits into the cache of a processor."""
    rows = max(1, _CELLS // n)
    starts = range(0, count, rows)
    return np.concatenate([statistic(drawn(n, at, min(at + rows, count))) for at in starts])


def _all_but_one(n: int, first: int, last: int) -> Counts:
    """All episodes but number ``first``, and so on up to ``last``: the jackknife."""
    return 1 - np.eye(last - first, n, first, dtype=np.int64)


def resampled(n: int, first: int, last: int) -> Counts:
    """How often resamples ``first`` to ``last`` drew each of ``n`` episodes, one row each."""
    picks = mixed(np.arange(first * n, last * n, dtype=np.uint64)) % np.uint64(n)
    rows = np.repeat(np.arange(last - first, dtype=np.int64), n)
    cells = rows * n + picks.astype(np.int64)
    return np.bincount(cells, minlength=(last - first) * n).reshape(-1, n)


def once(n: int) -> Counts:
    return np.ones((1, n), dtype=np.int64)


def sums(weights: Counts, values: Floats | Counts) -> Floats:
    # Not ``weights @ values``: the last bit of a BLAS product differs between machines.
    return np.asarray((weights * values).sum(axis=1), dtype=np.float64)


def ratio(top: Floats, bottom: Floats) -> Floats:
    """``top / bottom``, and NaN for 0 / 0 without numpy's warning."""
    found = np.full(len(top), np.nan)
    np.divide(top, bottom, out=found, where=bottom != 0)
    return found


def known(statistic: Floats) -> float | None:
    return None if np.isnan(statistic[0]) else float(statistic[0])


def mixed(counters: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """SplitMix64 over an array. Numpy's own streams may change between its versions."""
    z = counters * np.uint64(STRIDE) + np.uint64(key_of("bootstrap"))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
