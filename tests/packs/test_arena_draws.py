"""Every stream has a key of its own: what one draws tells nothing about its neighbours.

The figures at full size, 10⁶ pairs and 4,000 companies: experiments/independence.py.
"""

from __future__ import annotations

import runpy
from math import sqrt
from pathlib import Path

import pytest

INDEPENDENCE = runpy.run_path(str(Path(__file__).parents[2] / "experiments/independence.py"))
CONTROL = INDEPENDENCE["CONTROL"]
MOST = INDEPENDENCE["MOST"]


@pytest.mark.parametrize("name", INDEPENDENCE["STREAMS"])
def test_neighbouring_streams_are_independent(name: str) -> None:
    found = INDEPENDENCE["chi_squares"](INDEPENDENCE["STREAMS"][name], 50_000)
    # The control is how version 1 spaced its keys: the second draw is the next stream's first.
    assert (max(found.values()) < MOST) == (name != CONTROL), found


def test_whether_an_agent_acts_does_not_depend_on_the_one_before() -> None:
    rates = INDEPENDENCE["rates"](400)
    share = rates["all"].value
    assert rates["all"].of > 50_000
    for condition, rate in rates.items():
        # One percent, or what chance does to so few in one of 10,000 runs.
        assert abs(rate.value - share) < max(0.01, 4 * sqrt(share * (1 - share) / rate.of)), (
            condition
        )
        assert rate.of > 2_000, condition
