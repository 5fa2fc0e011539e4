from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import replace

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.training.credited_turns import CreditedTurn, credited_turns, scenario_of
from chaosops.training.recipe import Recipe, read_role_shares

EVERY_TURN = "sre:1,oversight:1,dev:1,manager:1"


def test_an_episode_of_the_stream_is_a_function_of_recipe_and_index() -> None:
    recipe = Recipe(classic_share=0.3)
    first = [credited_turns(recipe, index) for index in range(6)]
    assert pickle.loads(pickle.dumps(first)) == [
        credited_turns(recipe, index) for index in range(6)
    ]


def test_the_first_seed_decides_what_is_played_and_the_seed_does_not() -> None:
    """So runs with other seeds learn from the same turns."""
    one = credited_turns(Recipe(seed=0), 0)
    assert credited_turns(Recipe(seed=1), 0) == one
    assert credited_turns(Recipe(first_seed=5_001), 0) != one


def test_gains_are_over_the_menu() -> None:
    recipe = Recipe(classic_share=0.0, role_shares=EVERY_TURN)
    for state in credited_turns(recipe, 3):
        offered = " ".join(message["content"] for message in state.chat).replace("\n", " ")
        assert all(f" {label} " in f"{offered} ".replace(",", " ") for label in state.returns)


def test_without_a_continuation_a_return_is_the_reward_of_the_step() -> None:
    """Repairing pays later, so a step alone cannot tell a remedy from doing nothing."""
    alone = Recipe(classic_share=0.0, role_shares=EVERY_TURN, continuation="none")
    whole = replace(alone, continuation="oracle")
    best = {"none": 0.0, "oracle": 0.0}
    for index in range(6):
        for recipe in (alone, whole):
            gains = [max(state.returns.values()) for state in credited_turns(recipe, index)]
            best[recipe.continuation] = max([best[recipe.continuation], *gains])
    assert best["oracle"] > best["none"] > 0


def test_the_cause_is_worth_naming_at_any_step_until_it_is_named() -> None:
    """The world pays for it in the first steps only, so later turns of the SRE taught nothing."""
    plain = Recipe(classic_share=0.0, role_shares="sre:1,oversight:0,dev:0,manager:0")
    late = Counter[float]()
    for index in range(8):
        before = {_prompt(turn): turn.returns for turn in credited_turns(plain, index)}
        after = credited_turns(replace(plain, cause_bonus=20.0), index)
        assert before.keys() < {_prompt(turn) for turn in after}
        for turn in after:
            values = sorted(turn.returns.values())
            if known := before.get(_prompt(turn)):
                added = {turn.returns[label] - value for label, value in known.items()}
                assert added <= {0.0, -5.0, 20.0}
            else:
                # Wrong names cost, and the cause pays unless it was named before.
                late[values[-1] - values[0]] += 1
                assert values[-1] - values[-2] == (20.0 if values[-1] - values[0] == 25.0 else 0.0)
    assert set(late) == {5.0, 25.0}


def _prompt(turn: CreditedTurn) -> str:
    return turn.chat[1]["content"]


def test_tiers_come_by_share_or_in_order() -> None:
    drawn = Recipe(curriculum="easy:1,hard:3", classic_share=0.0)
    tiers = Counter(scenario_of(drawn, i, 0.0).tier.value for i in range(400))
    assert 0.68 < tiers["hard"] / 400 < 0.82
    ordered = Recipe(curriculum="hard:1,easy:1", shuffle_tiers=False, classic_share=0.0)
    assert [scenario_of(ordered, 0, p).tier.value for p in (0.0, 0.4, 0.6, 1.0)] == [
        "hard",
        "hard",
        "easy",
        "easy",
    ]


def test_only_the_training_split_is_drawn_from() -> None:
    recipe = Recipe(classic_share=0.5)
    assert {scenario_of(recipe, i, 0.5).split for i in range(50)} == {"train", ""}


def test_shares_of_roles_are_kept() -> None:
    recipe = Recipe(role_shares="sre:0,oversight:1,dev:0,manager:0", classic_share=0.0)
    roles = {state.role for index in range(8) for state in credited_turns(recipe, index)}
    assert roles == {Role.OVERSIGHT}
    with pytest.raises(BadInput, match="write each role"):
        read_role_shares("sre:1")


def test_a_multiplier_pays_right_flags_more_and_moves_with_the_run() -> None:
    recipe = Recipe(
        classic_share=0.0, role_shares="sre:0,oversight:1,dev:0,manager:0", curriculum="hard:1"
    )
    double = replace(recipe, rogue_bonus_multiplier="2.0->1.0")
    raised = 0
    for index in range(10):
        plain, paid = credited_turns(recipe, index), credited_turns(double, index)
        assert credited_turns(double, index, progress=1.0) == plain
        raised += sum(
            max(b.returns.values()) > max(a.returns.values())
            for a, b in zip(plain, paid, strict=True)
        )
    assert raised > 3
