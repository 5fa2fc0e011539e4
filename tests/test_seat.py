"""One role of an episode, while a team plays the others."""

from __future__ import annotations

import pytest

from chaosops import Scenario, Seat, Team, load_policy, make_scenario, play
from chaosops.core.actions import Noop
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.vocabulary import Role
from chaosops.roles.view import project
from chaosops.rollout import decision_request, load_team, policy_key
from chaosops.seat import NO_REPLY

SCENARIOS = [
    make_scenario("autoscaler_cost_cut", seed=3),
    make_scenario(pack="arena", seed=5),
    make_scenario(pack="arena", tier="easy", seed=8),
]


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_a_policy_in_the_seat_plays_the_same_episode_as_in_the_team(
    scenario: Scenario, role: Role
) -> None:
    policy = load_policy("random")
    partners = load_team("heuristic")
    whole = play(scenario, Team({**partners.policies, role: policy}))
    seat = Seat(scenario, role, partners)
    rewards = [0.0]
    before = sum(turn.score.total for turn in seat.episode.turns)
    while seat.view is not None:
        assert seat.view.role is role
        (decision,) = policy.decide([decision_request(seat.env, policy, policy_key(scenario))])
        rewards.append(seat.act(decision).reward)
    assert seat.episode.turns == whole.turns
    assert before + sum(rewards) == pytest.approx(whole.reward)


def test_finish_plays_the_rest_alone_or_with_a_policy() -> None:
    scenario = make_scenario(pack="arena", seed=5)
    left = Seat(scenario, "oversight", "random")
    step = left.finish()
    assert left.over
    assert step.view is None
    assert step.terminated or step.truncated
    own = [turn.decision for turn in step.turns if turn.role is Role.OVERSIGHT]
    assert set(own) == {Decision(NO_REPLY)}
    assert all(turn.events.miscommunication for turn in step.turns if turn.role is left.role)
    policy = load_policy("heuristic")
    played = Seat(scenario, "oversight", policy)
    played.finish(policy)
    assert played.episode.turns == play(scenario, Team.of(policy)).turns
    assert played.finish().turns == ()


def test_the_seat_sees_its_own_view_only() -> None:
    seat = Seat(make_scenario(pack="arena", seed=5), Role.DEV)
    assert seat.view == project(seat.env.world.public, Role.DEV)
    assert seat.view is not None
    assert (seat.view.trace, seat.view.rules.agents) == ((), ())


def test_an_unreadable_reply_is_data() -> None:
    seat = Seat(make_scenario("cascade"), "sre")
    step = seat.act("restart everything")
    assert step.turns[0].events.miscommunication is not None


def test_a_seat_in_an_ended_episode_and_an_unknown_role_are_errors() -> None:
    seat = Seat(make_scenario("cascade"), "sre")
    seat.finish()
    with pytest.raises(BadInput, match="the episode is over: take a seat in another"):
        seat.act(Noop())
    with pytest.raises(UnknownName, match=r"unknown role 'ops'; .*allowed: sre, oversight"):
        Seat(make_scenario("cascade"), "ops")


def test_the_team_is_named_with_its_seat() -> None:
    seat = Seat(make_scenario("cascade"), "dev", "oversight=oracle,others=random", name="mine")
    assert seat.episode.team == "sre=random,oversight=oracle,dev=mine,manager=random"
