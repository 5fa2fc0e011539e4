"""Means and shares with intervals. A rate over no episodes is None, never zero. So is the interval
of too few episodes, or of episodes that are all equal.

No library is used: the digits are the same on every machine, and SciPy need not be installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cbrt, hypot, inf, sqrt

Z95 = 1.959963984540054  # 95 % of a normal distribution is within this many deviations
FEWEST = 10  # values that a mean needs for an interval: the skew of fewer is a guess

Interval = tuple[float, float]


def mean(values: Sequence[float]) -> float | None:
    """
    >>> mean([1, 2]), mean([])
    (1.5, None)
    """
    return round(float(sum(values)) / len(values), 6) if values else None


def mean_ci95(values: Sequence[float], least: float = -inf, most: float = inf) -> Interval | None:
    """The 95 % interval of a mean: Student's t, corrected for the skew of the values (Hall 1992).

    None with fewer than ``FEWEST`` values, and if all values are equal: then nothing shows how far
    another value could be from them.

    >>> mean_ci95([0, 0, 0, 0, 0, 0, 0, 0, 0, 10])
    (-0.45, 8.1456)
    >>> mean_ci95([5.0] * 20), mean_ci95([1.0, 2.0])
    (None, None)
    """
    n = len(values)
    if n < FEWEST:
        return None
    centre = sum(values) / n
    squares = sum((value - centre) ** 2 for value in values)
    if squares <= 1e-18 * n * (1 + centre * centre):  # equal but for rounding
        return None
    error = sqrt(squares / (n - 1) / n)
    skew = sum((value - centre) ** 3 for value in values) / n / (squares / n) ** 1.5
    t = _student95(n - 1)
    low = centre - error * _unskewed(t, skew / sqrt(n))
    high = centre - error * _unskewed(-t, skew / sqrt(n))
    return around(centre, max(low, least), min(high, most))


def share_ci95(hits: float, n: float, z: float = Z95) -> Interval | None:
    """Wilson's 95 % interval of a share. Unlike a bootstrap, it is not zero wide if all values are
    equal.

    >>> share_ci95(0, 75), share_ci95(1, 1), share_ci95(0, 0)
    ((0.0, 0.0487), (0.2065, 1.0), None)
    """
    if not n:
        return None
    square = z * z
    centre = (hits + square / 2) / (n + square)
    half = z * sqrt(hits * (n - hits) / n + square / 4) / (n + square)
    return around(hits / n, centre - half, centre + half)


def ratio_ci95(tops: Sequence[int], bottoms: Sequence[int]) -> Interval | None:
    """Wilson's interval of a share of things that come in groups, such as flags in episodes.

    Things of one group may be correlated. The share then varies more, and the interval is that of
    fewer things (Rao and Scott 1992).

    >>> ratio_ci95([1, 1, 0, 1], [1, 1, 1, 1]) == share_ci95(3, 4)
    True
    >>> pairs = [2, 2, 0, 2, 2, 2, 0, 2, 2, 2, 2, 2]  # alike: twelve things, not 24
    >>> share_ci95(sum(pairs), 24), ratio_ci95(pairs, [2] * 12)
    ((0.6415, 0.9332), (0.5015, 0.9613))
    """
    hits, n = sum(tops), sum(bottoms)
    if hits in (0, n):
        return share_ci95(hits, n)
    share = hits / n
    groups = sum(bottom > 0 for bottom in bottoms)
    if max(bottoms) == 1:
        return share_ci95(hits, n)
    if groups < FEWEST:  # too few to measure the correlation: each counts as one thing
        return share_ci95(share * groups, groups)
    spread = sum((top - share * bottom) ** 2 for top, bottom in zip(tops, bottoms, strict=True))
    alike = max(1.0, spread * groups / (groups - 1) / (n * share * (1 - share)))
    return share_ci95(hits / alike, n / alike, _student95(groups - 1))


def difference_ci95(one: float, its: Interval, other: float, others: Interval) -> Interval:
    """The 95 % interval of a difference of two shares, from the interval of each (Newcombe 1998).

    >>> difference_ci95(0.0, (0.0, 0.0423), 0.0, (0.0, 0.0423))
    (-0.0423, 0.0423)
    """
    value = one - other
    low = value - hypot(one - its[0], others[1] - other)
    high = value + hypot(its[1] - one, other - others[0])
    return around(value, max(low, -1.0), min(high, 1.0))


def around(value: float, low: float, high: float) -> Interval:
    """Rounding must not push the value itself out of its interval."""
    value = round(value, 6)
    low, high = round(low, 4), round(high, 4)
    return min(low, value) + 0.0, max(high, value) + 0.0  # adding zero turns -0.0 into 0.0


def _student95(freedom: int) -> float:
    """Student's t for 95 %, by Fisher's expansion: within 0.0003 from 9 degrees on."""
    z, v = Z95, freedom
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )


def _unskewed(t: float, skew: float) -> float:
    """The t statistic of skewed values that corresponds to ``t`` without skew."""
    if abs(skew) < 1e-9:
        return t
    return 3 / skew * (cbrt(1 + skew * (t - skew / 6)) - 1)
