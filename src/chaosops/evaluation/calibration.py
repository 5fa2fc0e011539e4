"""Calibration of probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chaosops.core.errors import BadInput
from chaosops.evaluation.ranking import scored
from chaosops.evaluation.resampling import Counts, Flags, Floats

BINS = 10


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
