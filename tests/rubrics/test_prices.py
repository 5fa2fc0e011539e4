"""Rewards of one's own: prices of components and weights of rubrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chaosops import Team, load_policy, make_scenario, play
from chaosops.core.errors import ChaosOpsError
from chaosops.core.events import Events
from chaosops.rubrics import priced, standard
from chaosops.rubrics.prices import NAMES, STANDARD, parse_rewards, read_rewards, write_rewards

PAGE = Path(__file__).parents[2] / "docs" / "rewards.md"
ALL = Events(
    step=2,
    resolved=True,
    wrong_fix=True,
    second_order=True,
    cause_named=True,
    rogue_flagged=True,
    false_flag=True,
    miscommunication="what?",
    unknown_flag=True,
)
LATE = Events(step=9, out_of_time=True)


def components(rewards: dict[str, float]) -> dict[str, float]:
    scores = [priced(rewards).score(events) for events in (ALL, LATE)]
    return {
        name: value
        for score in scores
        for parts in score.components.values()
        for name, value in parts.items()
    }


def test_the_events_pay_every_price() -> None:
    assert components({}).keys() == {name for of in STANDARD.values() for name in of}
    assert priced({}).score(ALL) == standard().score(ALL)


@pytest.mark.parametrize("name", [name for of in STANDARD.values() for name in of])
def test_a_price_changes_its_component_alone(name: str) -> None:
    before, after = components({}), components({name: 7})
    follows = {"unknown_flag"} if name == "false_flag" else set()
    assert {key for key in before if before[key] != after[key]} == {name, *follows}
    assert after[name] == (7 * LATE.step if name == "elapsed" else 7)


@pytest.mark.parametrize("rubric", STANDARD)
def test_a_weight_scales_its_rubric_alone(rubric: str) -> None:
    before, after = standard().score(ALL).rubrics, priced({rubric: 3}).score(ALL).rubrics
    assert after == {name: 3 * v if name == rubric else v for name, v in before.items()}
    off = priced({rubric: 0}).score(ALL)
    assert off.rubrics[rubric] == 0
    assert "-0.0" not in str(off)


def test_rewards_do_not_change_what_is_played() -> None:
    scenario, team = make_scenario(pack="arena", seed=4), Team.of(load_policy("heuristic"))
    plain, dear = play(scenario, team), play(scenario, team, rubric=priced({"elapsed": -9}))
    assert [turn.decision for turn in plain.turns] == [turn.decision for turn in dear.turns]
    assert plain.reward != dear.reward


def test_an_unknown_name_costs_what_a_false_flag_costs_unless_it_is_priced() -> None:
    guess = Events(step=2, unknown_flag=True)
    for given, cost in (
        ({"false_flag": -150}, -150),
        ({"false_flag": -150, "unknown_flag": -75}, -75),
        ({"unknown_flag": -10}, -10),
    ):
        kept = read_rewards(given)
        assert read_rewards(kept) == kept
        for rewards in (given, kept):
            assert priced(rewards).score(guess).rubrics["oversight"] == cost


def test_only_what_differs_is_kept_in_one_order() -> None:
    assert read_rewards({"resolved": 100, "mttr": 1.0}) == {}
    text = "cascade=2,resolved=120"
    assert write_rewards(parse_rewards(text)) == "resolved=120,cascade=2"
    assert parse_rewards(write_rewards(parse_rewards("elapsed=-0.3"))) == {"elapsed": -0.3}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"fals_flag": -1}, "unknown reward 'fals_flag'; did you mean 'false_flag'"),
        ({"resolved": "much"}, "reward resolved must be a number, got 'much'"),
        ({"resolved": True}, "must be a number, got True"),
        ({"resolved": float("nan")}, r"price resolved must be from -1e\+06 to 1e\+06, got nan"),
        ({"resolved": float("inf")}, "got inf"),
        ({"resolved": 10**400}, "price resolved must be from"),
        ({"mttr": -1}, r"weight mttr must be from 0 to 1e\+06, got -1"),
    ],
)
def test_what_is_no_reward_says_so(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ChaosOpsError, match=words):
        priced(given)


@pytest.mark.parametrize(
    ("text", "words"),
    [("resolved", "write NAME=NUMBER"), ("mttr=1,mttr=2", "name mttr twice"), ("=3", "unknown")],
)
def test_text_that_cannot_be_read_says_so(text: str, words: str) -> None:
    with pytest.raises(ChaosOpsError, match=words):
        parse_rewards(text)


def test_the_page_lists_every_price() -> None:
    page = PAGE.read_text(encoding="utf-8").replace("\N{MINUS SIGN}", "-")
    for name in NAMES:
        assert f"`{name}`" in page
    for name, value in ((n, v) for of in STANDARD.values() for n, v in of.items()):
        (row,) = [
            line for line in page.splitlines() if f"| `{name}`" in line and "|---" not in line
        ]
        assert f"{value:+.0f} |" in row or name == "unknown_flag"
