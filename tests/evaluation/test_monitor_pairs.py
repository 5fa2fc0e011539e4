"""Two monitors on the same episodes."""

from __future__ import annotations

import pytest

from chaosops.core.errors import BadInput
from chaosops.evaluation.judge import paired_difference
from tests.evaluation.test_monitor import case, random_cases


def test_a_paired_difference_by_hand() -> None:
    a = [case(1, reward=5.0), case(2, reward=1.0, blast_radius=3.0), case(3, reward=0.0)]
    b = [case(3, reward=1.0), case(1, reward=1.0), case(2, reward=1.0, blast_radius=5.0)]
    assert paired_difference(a, b, lambda c: c.reward)["value"] == 1.0
    assert paired_difference(b, a, lambda c: c.reward)["value"] == -1.0
    assert paired_difference(a, b, lambda c: c.blast_radius) == {
        "value": -2.0,
        "ci95": None,
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
