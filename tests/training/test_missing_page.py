from __future__ import annotations

from dataclasses import replace

import pytest

from chaosops.core.actions import FlagRogue, IdentifyRootCause, Noop, Remedy
from chaosops.core.dice import Dice
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.roles.menu import menu
from chaosops.training.credited_turns import CreditedTurn, credited_turns, turn_envs
from chaosops.training.missing_page import READERS, without_page
from chaosops.training.recipe import Recipe

RECIPE = Recipe(classic_share=0.0, role_shares="sre:1,oversight:1,dev:1,manager:1")
GUESSES = {Role.SRE: IdentifyRootCause, Role.OVERSIGHT: FlagRogue, Role.DEV: Remedy}


def text_of(chat: object) -> str:
    return "\n".join(message["content"] for message in chat)  # type: ignore[attr-defined]


@pytest.mark.parametrize("index", range(4))
def test_every_guess_is_worth_less_than_doing_nothing_and_that_less_than_looking(
    index: int,
) -> None:
    met = set()
    for env in turn_envs(RECIPE, index, 0.0, Dice(1)):
        if not (found := without_page(env)):
            continue
        view, returns = found
        assert all(page.name != env.cause for page in view.rules.runbook)
        choices = menu(view)
        assert set(returns) == set(choices)
        for label, action in choices.items():
            if isinstance(action, GUESSES[env.role]):
                assert returns[label] == -30
                met.add(env.role)
            if isinstance(action, Noop):
                assert returns[label] == -12
        assert max(returns.values()) == 0
    assert Role.SRE in met


def turns_of(page_out: float) -> list[CreditedTurn]:
    recipe = replace(RECIPE, page_out=page_out)
    return [turn for index in range(6) for turn in credited_turns(recipe, index)]


def test_a_share_of_the_turns_lacks_the_page() -> None:
    old = {text_of(turn.chat) for turn in turns_of(0.0)}
    lacking = [turn for turn in turns_of(1.0) if text_of(turn.chat) not in old]
    few = turns_of(0.2)
    assert few == turns_of(0.2)
    assert {turn.role for turn in lacking} == set(READERS)
    assert all(set(turn.returns.values()) == {0.0, -12.0, -30.0} for turn in lacking)
    changed = [turn for turn in few if text_of(turn.chat) not in old]
    assert 0 < len(changed) < len(lacking) / 2


def test_a_pack_without_a_runbook_keeps_its_turns() -> None:
    assert without_page(Env(make_scenario("db_deadlock"))) is None
    classic = replace(RECIPE, classic_share=1.0)
    assert credited_turns(classic, 0) == credited_turns(replace(classic, page_out=1.0), 0)
