from __future__ import annotations

import pytest

from chaosops.core.actions import Noop
from chaosops.core.dice import Dice
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.vocabulary import Role, Tier
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.policies.protocol import DecisionRequest
from chaosops.policies.registry import load_policy, registered
from chaosops.policies.scripted import load_implementation
from chaosops.policies.scripted.random import RandomPolicy
from chaosops.policies.truth.optimal import ExactSearch
from chaosops.roles.view import project
from chaosops.rollout import Team, play, play_many

SCENARIOS = [
    make_scenario(failure, tier=tier, seed=seed)
    for failure in load_pack("classic").failures()
    for tier in Tier
    for seed in (0, 5)
]


@pytest.mark.parametrize("name", registered())
def test_every_policy_plays_every_scenario_without_breaking_a_rule(name: str) -> None:
    policy = load_policy(name)
    assert policy.name == name
    for episode in play_many(SCENARIOS, Team.of(policy)):
        assert episode.miscommunications == 0, episode.scenario
        assert episode.resolved or episode.steps == episode.scenario.limit


def test_unknown_policies_get_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="did you mean 'heuristic'"):
        load_policy("heuristics")


@pytest.mark.parametrize("role", Role)
def test_random_reaches_every_legal_action(role: Role) -> None:
    view = project(Env(make_scenario("cascade")).world.public, role)
    drawn = {RandomPolicy().act(view, Dice(key)) for key in range(5000)}
    assert drawn == set(view.rules.legal_actions(role))


def test_only_those_who_declare_it_are_given_the_truth() -> None:
    seen: dict[str, set[bool]] = {}
    for name in registered():
        policy = load_policy(name)
        original = policy.decide

        def spy(requests, name=name, original=original):  # type: ignore[no-untyped-def]
            seen.setdefault(name, set()).update(request.world is not None for request in requests)
            return original(requests)

        policy.decide = spy  # type: ignore[method-assign]
        play(SCENARIOS[0], Team.of(policy))
    assert {name for name, given in seen.items() if True in given} == {"oracle", "optimal"}


@pytest.mark.parametrize("failure", load_pack("classic").failures())
def test_the_optimum_is_what_the_search_says_and_nobody_beats_it(failure: str) -> None:
    for tier in Tier:
        scenario = make_scenario(failure, tier=tier, seed=3)
        promised, _ = ExactSearch().best(Env(scenario).world)
        assert play(scenario, Team.of(load_policy("optimal"))).reward == promised
        for name in registered():
            assert play(scenario, Team.of(load_policy(name))).reward <= promised


def test_the_optimum_does_not_depend_on_the_seed() -> None:
    for failure in load_pack("classic").failures():
        values = {
            ExactSearch().best(Env(make_scenario(failure, tier="hard", seed=seed)).world)[0]
            for seed in range(5)
        }
        assert len(values) == 1


def test_the_oracle_recovers_from_what_others_broke() -> None:
    """An oracle Developer beside a random SRE: still every cascade is resolved."""
    team = Team(
        {
            Role.SRE: load_policy("random"),
            Role.OVERSIGHT: load_policy("oracle"),
            Role.DEV: load_policy("oracle"),
            Role.MANAGER: load_policy("oracle"),
        }
    )
    scenarios = [make_scenario("cascade", tier="hard", seed=seed) for seed in range(40)]
    episodes = list(play_many(scenarios, team))
    assert all(episode.resolved for episode in episodes)
    assert any(episode.wrong_fixes for episode in episodes)


def test_heuristic_beats_keyword_beats_random() -> None:
    def mean(name: str) -> float:
        episodes = list(play_many(SCENARIOS, Team.of(load_policy(name))))
        return sum(episode.reward for episode in episodes) / len(episodes)

    assert mean("random") < mean("keyword") < mean("heuristic") < mean("oracle") < mean("optimal")


def test_a_scripted_policy_is_a_function_of_its_seat() -> None:
    view = Env(SCENARIOS[3]).view
    for name in ("random", "keyword", "heuristic", "last_toucher"):
        policy = load_policy(name)
        assert (
            policy.decide([DecisionRequest(view, 5)] * 2)
            == [*policy.decide([DecisionRequest(view, 5)])] * 2
        )


def test_nothing_to_do_is_a_noop() -> None:
    env = Env(make_scenario("db_deadlock"))
    assert (
        load_policy("heuristic")
        .decide([DecisionRequest(project(env.world.public, Role.MANAGER), 0)])[0]
        .action
        == Noop()
    )


def test_a_pack_without_anload_implementation_is_named() -> None:
    with pytest.raises(BadInput, match=r"keyword cannot play pack new: .*scripted/new/keyword\.py"):
        load_implementation("new", "keyword")
