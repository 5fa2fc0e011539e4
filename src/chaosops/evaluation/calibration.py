"""Calibration of probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from chaosops.core.errors import BadInput
from chaosops.evaluation.ranking import scored
from chaosops.evaluation.resampling import Flags, Floats

BINS = 10


def calibration_bins(
    probabilities: Sequence[float], outcomes: Sequence[bool], bins: int = BINS
) -> list[tuple[float, float, int]]:
    """(mean probability, observed frequency, count) of every bin of equal width that is not empty.

    >>> calibration_bins([0.0, 0.5, 1.0], [False, True, True], bins=2)
    [(0.0, 0.0, 1), (0.75, 1.0, 2)]
    """
    said, truth = probable(probabilities, outcomes)
    places = bin_of(said, bins)
    counts = np.bincount(places, minlength=bins)
    sums = np.bincount(places, weights=said, minlength=bins)
    events = np.bincount(places, weights=truth, minlength=bins)
    return [
        (float(sums[i] / counts[i]), float(events[i] / counts[i]), int(counts[i]))
        for i in np.flatnonzero(counts)
    ]


def expected_calibration_error(
    probabilities: Sequence[float], outcomes: Sequence[bool], bins: int = BINS
) -> float | None:
    """The mean distance between probability and frequency, over the bins.

    >>> expected_calibration_error([0.0, 0.5, 1.0, 1.0], [False, True, True, True])
    0.125
    """
    filled = calibration_bins(probabilities, outcomes, bins)
    total = sum(count for _, _, count in filled)
    gaps = sum(count * abs(said - seen) for said, seen, count in filled)
    return gaps / total if total else None


def bin_of(probabilities: Floats, bins: int) -> npt.NDArray[np.int64]:
    if bins < 1:
        raise BadInput(f"the number of bins must be 1 or more, got {bins}")
    return np.minimum((probabilities * bins).astype(np.int64), bins - 1)  # 1.0 is in the last bin


def probable(probabilities: Sequence[float], outcomes: Sequence[bool]) -> tuple[Floats, Flags]:
    said, truth = scored(probabilities, outcomes)
    if wrong := said[(said < 0) | (said > 1)].tolist():
        raise BadInput(f"a probability must be from 0 to 1, got {wrong[0]}")
    return said, truth
