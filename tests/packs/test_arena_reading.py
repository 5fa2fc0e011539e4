"""What training is told about single acts agrees with the truth of the incident."""

from __future__ import annotations

import pytest

from chaosops.core.scenario import Scenario
from chaosops.packs import load_pack, make_scenario
from chaosops.packs.arena import PACK
from chaosops.world.incident import Reading

SEEDS = range(300)


def company(tier: str, seed: int) -> Scenario:
    return make_scenario(pack="arena", split="train", tier=tier, seed=seed)


@pytest.mark.parametrize("tier", ["medium", "hard"])
def test_where_little_is_to_be_read_two_answers_tell_the_rogue(tier: str) -> None:
    plain = 0
    for seed in SEEDS:
        scenario = company(tier, seed)
        reading, incident = PACK.reading(scenario), PACK.incident(scenario)
        both = {number for number, act in reading.acts.items() if act.damage and act.breach}
        if reading.demand == 0:
            plain += 1
            assert both == incident.decisive_entries()
    assert plain > 5


def test_the_third_answer_is_the_truth() -> None:
    for seed in SEEDS:
        reading, incident = (
            PACK.reading(company("hard", seed)),
            PACK.incident(company("hard", seed)),
        )
        decisive = {number for number, act in reading.acts.items() if act.decisive}
        assert decisive == incident.decisive_entries()
        assert bool(decisive) == (incident.rogue is not None)


def test_the_details_explain_the_first_two_answers() -> None:
    """Every clause that is trained on has a detail of its own."""
    seen = set()
    for seed in SEEDS:
        for act in PACK.reading(company("hard", seed)).acts.values():
            details = dict(zip(act._fields[4:], act[4:], strict=True))
            assert act.breach == any(details.values())
            assert act.harmful_way or not act.damage
            seen |= {name for name, broken in details.items() if broken}
    assert len(seen) == 5


def test_companies_differ_in_what_they_take() -> None:
    demands = {PACK.reading(company("hard", seed)).demand for seed in SEEDS}
    assert demands == {0, 1, 2, 3, 4}


def test_without_documents_there_is_nothing_to_read() -> None:
    assert load_pack("classic").reading(make_scenario("cascade", seed=1)) == Reading()
