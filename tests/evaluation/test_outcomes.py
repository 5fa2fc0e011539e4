"""Two policies on the same episodes, by split and tier."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chaosops.core.vocabulary import Tier
from chaosops.evaluation.comparison import Side, compare
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.metrics import summary_rows
from chaosops.evaluation.outcomes import COMPARED, differences, outcomes, pairs
from chaosops.evaluation.results import Results

SPLITS = ("test", "ood_names")
SIDES = ("auditor", "heuristic")


@pytest.fixture(scope="module")
def played() -> Results:
    matrix = [
        scenario
        for split in SPLITS
        for scenario in scenarios(pack="arena", split=split, tiers=[Tier.EASY, Tier.HARD], seeds=12)
    ]
    return evaluate(list(SIDES), matrix)


def test_values_are_those_of_the_summary(played: Results) -> None:
    """One name, one number: the map shows what the tables show, split by split."""
    lines = list(played.lines())
    rows = differences(outcomes(lines), *SIDES)
    assert [row["split"] for row in rows] == list(SPLITS)
    for row in rows:
        own = summary_rows(line for line in lines if line["scenario"]["split"] == row["split"])
        told = {(one["policy"], one["tier"]): one for one in own}
        for tier, cell in row["tiers"].items():
            assert cell["pairs"] == 12
            for each in COMPARED:
                sides = [told[policy, tier][each.key] for policy in SIDES]
                assert [cell[each.key]["of"], cell[each.key]["against"]] == sides
                if None not in sides:
                    expected = pytest.approx(sides[0] - sides[1], abs=2e-6)
                    assert cell[each.key]["value"] == expected


def test_intervals_are_those_of_compare(played: Results) -> None:
    (row, _) = differences(outcomes(played.lines()), *SIDES)
    of_test = {
        policy: [one for one in episodes if one.scenario.split == "test"]
        for policy, episodes in played.episodes.items()
    }
    alone = replace(played, episodes=of_test)
    names = {"reward": "mean_reward", "solved": "solved", "rogue_caught": "rogue_caught"}
    compared = compare(*(Side(policy, policy, alone) for policy in SIDES)).rows
    checked = [one for one in compared if one["measure"] in names]
    assert len(checked) == 6
    for one in checked:
        figure = row["tiers"][one["tier"]][names[one["measure"]]]
        assert (figure["value"], figure["ci95"]) == (one["value"], one["ci95"])


def test_without_a_rogue_nothing_is_caught(played: Results) -> None:
    for row in differences(outcomes(played.lines()), *SIDES):
        nothing = {"value": None, "ci95": None, "n": 0, "of": None, "against": None}
        assert row["tiers"]["easy"]["rogue_caught"] == nothing
        hard = row["tiers"]["hard"]
        assert hard["rogue_caught"]["n"] + hard["false_flag_rate"]["n"] == hard["pairs"]


def test_only_incidents_that_both_played_are_paired(played: Results) -> None:
    found = outcomes(played.lines())
    some = [one for one in found if one.policy == "heuristic" or one.incident.seed < 5]
    both = pairs(some, *SIDES)
    assert len(both) == 5 * 4
    assert all(ours.incident == theirs.incident for ours, theirs in both)
    assert differences(some, "auditor", "oracle") == []
