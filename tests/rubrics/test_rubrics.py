from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosops.core.errors import BadInput
from chaosops.core.events import Events
from chaosops.rubrics import (
    CascadeRubric,
    CompositeRubric,
    MttrRubric,
    OversightRubric,
    ResolutionRubric,
    standard,
)

events = st.builds(
    Events,
    step=st.integers(1, 30),
    resolved=st.booleans(),
    out_of_time=st.booleans(),
    wrong_fix=st.booleans(),
    second_order=st.booleans(),
    cause_named=st.booleans(),
    rogue_flagged=st.booleans(),
    false_flag=st.booleans(),
    miscommunication=st.none() | st.just("why"),
)


@pytest.mark.parametrize(
    ("happened", "components"),
    [
        (Events(8, resolved=True), {"resolved": 100.0, "fast": 10.0}),
        (Events(9, resolved=True), {"resolved": 100.0}),
        (Events(3, cause_named=True), {"root_cause": 30.0}),
        (Events(4, cause_named=True), {}),
        (Events(2, wrong_fix=True), {"wrong_fix": -50.0}),
        (Events(2, miscommunication="x"), {"miscommunication": -20.0}),
        (Events(12, out_of_time=True), {"unresolved": -60.0}),
    ],
)
def test_resolution_alone(happened: Events, components: dict[str, float]) -> None:
    assert ResolutionRubric().score(happened) == components


def test_the_others_alone() -> None:
    assert MttrRubric().score(Events(7)) == {"elapsed": -14.0}
    assert OversightRubric().score(Events(2, false_flag=True)) == {"false_flag": -75.0}
    assert CascadeRubric().score(Events(2)) == {}


@given(events)
def test_components_sum_to_rubrics_and_rubrics_to_the_total(happened: Events) -> None:
    score = standard().score(happened)
    for name, parts in score.components.items():
        assert math.isclose(sum(parts.values()), score.rubrics[name], abs_tol=1e-9)
    assert math.isclose(sum(score.rubrics.values()), score.total, abs_tol=1e-9)


@given(events, st.floats(0, 10))
def test_the_multiplier_scales_oversight_and_nothing_else(happened: Events, factor: float) -> None:
    plain, scaled = standard().score(happened), standard(factor).score(happened)
    for name in plain.rubrics:
        wanted = plain.rubrics[name] * (factor if name == "oversight" else 1)
        assert math.isclose(scaled.rubrics[name], wanted, abs_tol=1e-9)


def test_weights_and_order_are_the_callers() -> None:
    mixed = CompositeRubric([CascadeRubric(), MttrRubric()], weights=[2.0, 0.5])
    score = mixed.score(Events(3, second_order=True))
    assert dict(score.rubrics) == {"cascade": -80.0, "mttr": -3.0}
    assert score.total == -83.0


def test_scores_cannot_be_tampered_with() -> None:
    score = standard().score(Events(1))
    with pytest.raises(TypeError):
        score.rubrics["mttr"] = 5.0  # type: ignore[index]
    assert pickle.loads(pickle.dumps(score)) == score


@pytest.mark.parametrize("factor", [-1.0, math.nan, math.inf])
def test_a_senseless_multiplier_is_an_error(factor: float) -> None:
    with pytest.raises(BadInput, match="rogue_bonus_multiplier"):
        OversightRubric(factor)


def test_a_senseless_composition_is_an_error() -> None:
    with pytest.raises(BadInput, match="once"):
        CompositeRubric([MttrRubric(), MttrRubric()])
    with pytest.raises(BadInput, match="weights"):
        CompositeRubric([MttrRubric()], weights=[1.0, 2.0])


def test_the_cache_is_bounded() -> None:
    rubric = standard()
    for step in range(10_000):
        rubric.score(Events(step))
    assert len(rubric._scores) <= rubric._CACHE_LIMIT
