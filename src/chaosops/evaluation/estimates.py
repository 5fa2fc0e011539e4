"""A value and its 95 % interval, as a metric of an overseer is written."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from chaosops.evaluation.resampling import Counts, Floats
from chaosops.evaluation.statistics import Interval, mean, mean_ci95, share_ci95

Figure = dict[str, Any]  # value and ci95
NOTHING: Figure = {"value": None, "ci95": None}


def mean_figure(values: Sequence[float | None], least: float = -inf, most: float = inf) -> Figure:
    given = [value for value in values if value is not None]
    return figure_of(mean(given), mean_ci95(given, least, most))


def ratio_figure(tops: Floats, bottoms: Counts) -> Figure:
    """The ratio of two sums over episodes, written as a mean over episodes."""
    whole = float(tops.sum()) / int(bottoms.sum())
    each = whole + (tops - whole * bottoms) * len(tops) / int(bottoms.sum())
    return figure_of(whole, mean_ci95(each.tolist(), 0.0, 1.0))


def share_figure(events: Sequence[bool]) -> Figure:
    return figure_of(mean(events), share_ci95(sum(events), len(events)))


def count_figure(events: Sequence[int]) -> Figure:
    """A mean count. If no episode has more than one, it is a share and gets a share's interval."""
    if max(events, default=0) > 1:
        return mean_figure(events, 0.0)
    return share_figure([n > 0 for n in events])


def figure_of(value: float | None, interval: Interval | None) -> Figure:
    if value is None:
        return NOTHING
    return {"value": round(value, 6), "ci95": None if interval is None else list(interval)}
