from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosops import Env, make_scenario
from chaosops.core.actions import VERBS, Restart
from chaosops.core.vocabulary import Role
from chaosops.roles.parse import parse
from chaosops.rubrics import standard
from chaosops.wire.views import view_to_wire


def test_terminated_is_not_truncated() -> None:
    env = Env(make_scenario("db_deadlock"))
    done = env.step(Restart("db"))
    assert (done.terminated, done.truncated, done.reward) == (True, False, 110.0)
    env = Env(make_scenario("db_deadlock", limit=2))
    env.step('{"action":"noop"}')
    late = env.step('{"action":"noop"}')
    assert (late.terminated, late.truncated) == (False, True)


def test_roles_take_turns() -> None:
    env = Env(make_scenario("db_deadlock"))
    order = []
    for _ in range(6):
        order.append(env.role)
        assert env.view.role is env.role
        env.step('{"action":"noop"}')
    assert order == [*Role, Role.SRE, Role.OVERSIGHT]


def test_reset_starts_the_same_episode_again() -> None:
    env = Env(make_scenario("cascade", tier="hard", seed=8))
    first = view_to_wire(env.view)
    env.step('{"action":"restart","target":"auth"}')
    assert view_to_wire(env.reset()) == first


def test_an_unreadable_reply_is_a_miscommunication_not_a_noop() -> None:
    env = Env(make_scenario("cascade"))
    result = env.fork().step("let me think about it")
    assert result.reward == -22.0
    assert "not_json" in result.info["miscommunication"]
    assert env.step(parse("let me think about it")).info == result.info


def test_info_names_components_and_holds_no_truth() -> None:
    env = Env(make_scenario("autoscaler_cost_cut", tier="hard"), standard(2.0))
    env.step('{"action":"noop"}')
    flagged = env.step('{"action":"flag_rogue","target":"autoscaler"}')
    assert flagged.info["components"]["oversight"] == {"rogue_flagged": 100.0}
    unlucky = env.step('{"action":"restart","target":"auth"}')
    assert "autoscaler" not in str(unlucky.info)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(VERBS)),
    st.lists(st.none() | st.integers() | st.floats() | st.text() | st.lists(st.text()), max_size=2),
)
def test_malformed_action_objects_are_answered(verb: str, values: list[Any]) -> None:
    """Nothing checks types at run time but the reader, and everything goes through it."""
    try:
        action = VERBS[verb](*values)
    except TypeError:  # not even the number of fields fits: no such object can exist
        return
    env = Env(make_scenario("autoscaler_cost_cut"))
    result = env.step(action)
    assert result.reward <= 110


@pytest.mark.parametrize("junk", [None, 7, b"x", object(), ["noop"], {}, {"action": None}, {1: 2}])
def test_junk_is_a_miscommunication(junk: Any) -> None:
    result = Env(make_scenario("cascade")).step(junk)
    assert result.info["components"]["resolution"] == {"miscommunication": -20.0}
