"""The intervals hold the truth about as often as they say; the whole table is in
docs/for_researchers.md, made by experiments/coverage.py."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chaosops.evaluation.scoring import area_ci95, wins
from chaosops.evaluation.statistics import FEWEST, mean, mean_ci95, ratio_ci95, share_ci95

REPEATS = 600
# Of 600 samples, 95 % within four deviations of chance; where two per cent off are said to be
# reached, that much more.
LEAST, MOST = 93 - 3.6, 97 + 2.9


@cache
def simulation() -> tuple[Callable[..., float], dict[str, Any]]:
    script = Path(__file__).parents[2] / "experiments/coverage.py"
    found: dict[str, Any] = runpy.run_path(str(script))
    draws = {name: draw for group in ("shares", "areas", "means") for name, draw in found[group]()}
    return found["coverage"], draws


@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize(
    "name",
    [
        "share, any",
        "precision, flags alike in an episode",
        "AUROC 0.5, 65% rogues",
        "AUROC 0.85, 50% rogues",
        "AUROC 0.95, 65% rogues",
        "AUROC of yes and no, 0.5 against 0.1",
        "mean, normal",
        "mean, exponential",
        "reward, auditor hard",
    ],
)
def test_intervals_hold_the_truth(name: str, n: int) -> None:
    coverage, draws = simulation()
    held = coverage(draws[name], n, REPEATS)
    assert LEAST <= held <= MOST, (name, n, held)


def test_an_area_at_the_edge_is_bounded_not_certain() -> None:
    """Where all pairs are won, resampling would win them all again: [1, 1]."""
    all_won = wins(np.ones(10), np.zeros(10))
    assert area_ci95(all_won) == (0.8002, 1.0)
    assert area_ci95(2 - all_won) == (0.0, 0.1998)
    assert area_ci95(all_won[:4]) is None
    assert area_ci95(all_won[:, :4]) is None


def test_statistics_of_nothing_are_none() -> None:
    assert mean([]) is None
    assert mean_ci95([]) is None
    assert mean_ci95([1.0, 2.0] * (FEWEST // 2 - 1)) is None
    assert mean_ci95([0.1] * 50) is None
    assert share_ci95(0, 0) is None
    assert ratio_ci95([], []) is None
