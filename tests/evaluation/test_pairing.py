"""Paired differences: those of the values in the table, with intervals that cover the truth."""

from __future__ import annotations

import numpy as np
import pytest

from chaosops.core.errors import BadInput
from chaosops.evaluation.audit_budget import safety_figure
from chaosops.evaluation.cases import Case
from chaosops.evaluation.pairing import Auroc, Difference, Safety, monitor_differences
from chaosops.evaluation.resampling import Flags, Floats
from chaosops.evaluation.scoring import area_difference, wins
from tests.evaluation.test_audit_budget import case

LABELS: Flags = np.arange(120) % 2 == 0


def cases(skill: float, seed: int) -> list[Case]:
    """Episodes of a monitor: the same incidents by seed, seen with more or less skill."""
    incidents = np.random.default_rng(99).normal(size=120)
    own = np.random.default_rng(seed).normal(size=120)
    scores = 1 / (1 + np.exp(-(skill * LABELS + incidents + 0.5 * own)))
    return [
        case("a" if guilty else None, {"a": float(p), "b": 0.1}, seed=n)
        for n, (guilty, p) in enumerate(zip(LABELS, scores, strict=True))
    ]


@pytest.mark.parametrize("difference", monitor_differences(), ids=lambda each: each.key)
def test_a_difference_is_that_of_the_values(difference: Difference) -> None:
    ours, theirs = cases(2.0, 1), cases(0.5, 2)
    row = difference.row(ours, theirs)
    one, other = (difference.measure.value(each) for each in (ours, theirs))
    assert one is not None
    assert other is not None
    assert row["value"] == pytest.approx(one - other, abs=1e-5)
    back = difference.row(theirs, ours)
    assert back["value"] == pytest.approx(-row["value"], abs=1e-5)
    if row["ci95"] is not None:
        low, high = row["ci95"]
        assert low <= row["value"] <= high


def test_pairing_makes_the_interval_narrower() -> None:
    """Both saw the same incidents. Compared with other incidents, the difference is less sure."""
    ours, theirs = cases(1.0, 1), cases(0.8, 2)
    low, high = Auroc(1).difference(ours, theirs)["ci95"]
    shifted = [*theirs[60:], *theirs[:60]]
    wide = Auroc(1).difference(ours, shifted)["ci95"]
    assert high - low < 0.75 * (wide[1] - wide[0])


def test_equal_monitors_have_no_interval() -> None:
    same = Auroc(1).difference(cases(1.0, 1), cases(1.0, 1))
    assert same == {"value": 0.0, "ci95": None}


@pytest.mark.parametrize(("level", "end"), [(0.05, 0.0), (0.99, 1.0)])
def test_a_monitor_that_catches_all_or_none_is_not_surely_so(level: float, end: float) -> None:
    """The interval of a difference is as wide as that of the monitor alone, or wider."""
    honest = [case(None, {"a": n / 100}) for n in range(10, 90)]
    ours = [*honest, *(case("a", {"a": level}) for _ in range(30))]
    theirs = [*honest, *(case("a", {"a": n / 30}) for n in range(30))]
    for others in (ours, theirs):
        one, other = safety_figure(ours, 0.05), safety_figure(others, 0.05)
        assert one["value"] == end
        figure = Safety(0.05).difference(ours, others)
        assert figure["value"] == pytest.approx(end - other["value"], abs=1e-5)
        low, high = figure["ci95"]
        assert low < figure["value"] < high
        assert high - low >= one["ci95"][1] - one["ci95"][0]


def test_other_episodes_are_refused() -> None:
    ours, theirs = cases(1.0, 1), cases(1.0, 2)
    with pytest.raises(BadInput, match="the same ones in the same order"):
        monitor_differences()[0].row(ours, theirs[::-1])


def test_the_interval_of_an_auroc_difference_covers_the_truth() -> None:
    """Two monitors of different skill, correlated as on equal episodes."""
    dice = np.random.default_rng(3)
    labels: Flags = np.arange(100) < 40

    def scores(count: int, guilty: Flags) -> tuple[Floats, Floats]:
        shared = dice.normal(size=count)
        one = 1.4 * guilty + shared + 0.5 * dice.normal(size=count)
        return one, 0.7 * guilty + shared + 0.8 * dice.normal(size=count)

    many: Flags = np.arange(6000) < 3000
    truth = _difference(*scores(6000, many), many)[0]
    covered = 0
    for _ in range(600):
        _, interval = _difference(*scores(100, labels), labels)
        assert interval is not None
        covered += interval[0] <= truth <= interval[1]
    assert 0.92 <= covered / 600 <= 0.98


def test_the_intervals_of_safety_cover_the_truth() -> None:
    """Alone, and as a difference. One catch in five comes too late."""
    dice = np.random.default_rng(4)

    def drawn(count: int) -> list[list[Case]]:
        guilty = np.arange(count) % 2 == 0
        shared = dice.normal(size=count)
        monitors = []
        for skill in (2.0, 1.0):
            said = 1 / (1 + np.exp(-(skill * guilty + shared + 0.5 * dice.normal(size=count))))
            in_time = (dice.random(count) > 0.2).astype(int)
            monitors.append(
                [
                    case("a" if rogue else None, {"a": p}, in_time=turns, seed=n)
                    for n, (rogue, p, turns) in enumerate(
                        zip(guilty.tolist(), said.tolist(), in_time.tolist(), strict=True)
                    )
                ]
            )
        return monitors

    measure = Safety(0.05)
    known = [measure.value(cases) or 0.0 for cases in drawn(20_000)]
    truths = known[0], known[0] - known[1]
    covered = [0, 0]
    for _ in range(100):
        ours, theirs = drawn(200)
        figures = safety_figure(ours, 0.05), measure.difference(ours, theirs)
        for place, (figure, truth) in enumerate(zip(figures, truths, strict=True)):
            low, high = figure["ci95"]
            covered[place] += low <= truth <= high
    assert all(90 <= count <= 99 for count in covered), covered


def _difference(
    one: Floats, other: Floats, labels: Flags
) -> tuple[float, tuple[float, float] | None]:
    won, lost = (wins(scores[labels], scores[~labels]) for scores in (one, other))
    found = area_difference(won, lost)
    assert found is not None
    return found


def test_zero_has_one_sign() -> None:
    (safe,) = (each for each in monitor_differences() if each.key == "safety")
    assert safe.text({"value": -0.004, "ci95": [-0.012, -0.001]}) == "+0% [-1%, +0%]"
    assert safe.value_text(-0.0) == "0%"
