"""Arguments of the public Python names: what is plainly meant works, the rest is one clear line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chaosops import (
    ChaosOpsError,
    Env,
    Scenario,
    Seat,
    Team,
    evaluate,
    load_policy,
    make_scenario,
    play,
    play_many,
    priced,
    scenarios,
)
from chaosops.client.episode_client import action_to_wire
from chaosops.core.actions import Action, Noop, Restart
from chaosops.core.events import Events
from chaosops.core.vocabulary import Role, Tier
from chaosops.packs import read_tier
from chaosops.roles.view import RoleView

ONE = make_scenario("db_deadlock")


def restarter(view: RoleView) -> Action:
    return Restart("db")


def calm(view: RoleView) -> dict[str, float]:
    return dict.fromkeys(view.rules.agents, 0.1)


def test_a_function_is_a_policy_wherever_one_is_named() -> None:
    name = f"{__name__}:restarter"
    results = evaluate([restarter, "oracle"], [ONE])
    assert list(results.episodes) == [name, "oracle"]
    assert results.manifest["policies"][name]["kind"] == "own"
    assert results.episodes[name][0].resolved
    assert play(ONE, restarter).turns == results.episodes[name][0].turns
    seat = Seat(ONE, "sre", restarter)
    assert seat.finish(restarter).terminated


def test_a_team_names_policies_and_functions_by_role() -> None:
    team = Team({"oversight": calm, "others": "heuristic"})
    assert team.name == f"oversight={__name__}:calm,others=heuristic"
    assert team.policies[Role.SRE] is team.policies[Role.DEV]
    results = evaluate(team, scenarios(pack="arena", tiers="easy", seeds=1))
    assert list(results.episodes) == [team.name]
    assert sorted(results.manifest["policies"][team.name]) == sorted(Role)


def test_one_stands_for_a_list_of_one() -> None:
    listed = evaluate(["heuristic"], [ONE])
    assert evaluate("heuristic", ONE).episodes == listed.episodes
    assert evaluate(load_policy("heuristic"), "db_deadlock").episodes == listed.episodes
    assert list(play_many(ONE, "heuristic")) == list(listed.episodes["heuristic"])
    assert scenarios(tiers="hard") == scenarios(tiers=["hard"]) == scenarios(tiers=Tier.HARD)


def test_a_failure_by_name_is_a_scenario() -> None:
    assert Env("db_deadlock").scenario == Seat("db_deadlock", "sre").env.scenario == ONE
    assert play("db_deadlock", "oracle").scenario == ONE


def test_a_policy_by_name_plays_the_rest_of_a_seat() -> None:
    seat = Seat(ONE, "sre", "heuristic")
    seat.finish("heuristic")
    assert seat.episode.turns == play(ONE, "heuristic").turns


def test_a_policy_stays_as_it_is() -> None:
    oracle = load_policy("oracle")
    assert load_policy(oracle) is oracle
    assert load_policy(type(oracle)) is not oracle  # a class is still made


def test_rewards_as_text() -> None:
    flag = Events(step=4, false_flag=True)
    assert priced("false_flag=-150").score(flag) == priced({"false_flag": -150}).score(flag)
    assert evaluate("heuristic", ONE, rewards="mttr=0.5").manifest["rewards"] == {"mttr": 0.5}


def test_actions_for_a_server() -> None:
    assert action_to_wire(Noop()) == action_to_wire({"action": "noop"}) == {"action": "noop"}


def test_results_are_shown_in_one_short_line() -> None:
    results = evaluate(["random", "heuristic"], scenarios(tiers="easy")[:2])
    assert repr(results) == "Results(episodes={'random': 2, 'heuristic': 2})"


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: evaluate([5], [ONE]), "5 is not a policy; expected a name such as 'heuristic'"),  # type: ignore[list-item]
    (lambda: evaluate(None, [ONE]), "None is not a policy"),  # type: ignore[arg-type]
    (lambda: evaluate([restarter, restarter], [ONE]), "two of them are called"),
    (lambda: evaluate(restarter, ONE, pool=object()), "workers load a policy by its name"),  # type: ignore[arg-type]
    (lambda: evaluate("heuristic", 5), "5 is not a scenario; make one with make_scenario"),  # type: ignore[arg-type]
    (lambda: evaluate("heuristic", []), "at least one policy and one scenario"),
    (lambda: evaluate("heuristic", ONE, rewards=5), "rewards 5: expected a price"),  # type: ignore[arg-type]
    (lambda: play(ONE, 5), "5 is not a policy"),  # type: ignore[arg-type]
    (lambda: play(ONE, ["heuristic"]), r"\['heuristic'\] is not a policy"),  # type: ignore[arg-type]
    (lambda: play(None, "heuristic"), "None is not a scenario"),  # type: ignore[arg-type]
    (lambda: list(play_many([ONE], "random", side_by_side=0)), "side_by_side must be 1 or more"),
    (lambda: Seat("dbdeadlock", "sre"), "did you mean 'db_deadlock'"),
    (lambda: Seat(ONE, None), "unknown role 'None'"),  # type: ignore[arg-type]
    (lambda: Seat(ONE, "sre", 5), "5 is not a policy"),  # type: ignore[arg-type]
    (lambda: Seat(ONE, "sre").finish(5), "5 is not a policy"),  # type: ignore[arg-type]
    (lambda: Team("heuristic"), "Team.of takes one for all"),  # type: ignore[arg-type]
    (lambda: Team({"oversight": "random"}), "leaves out sre, dev, manager"),
    (lambda: Team({"boss": "random"}), "unknown role 'boss'"),
    (lambda: priced(5), "rewards 5: expected a price"),  # type: ignore[arg-type]
    (lambda: priced({5: 1.0}), "unknown reward '5'"),  # type: ignore[dict-item]
    (lambda: scenarios(seeds="5"), "the number of seeds must be a whole number, got '5'"),  # type: ignore[arg-type]
    (lambda: scenarios(seed_start=1.5), "the first seed must be a whole number, got 1.5"),  # type: ignore[arg-type]
    (lambda: scenarios(tiers="hrad"), "did you mean 'hard'"),
    (lambda: scenarios(tiers=5), "unknown tier '5'"),  # type: ignore[arg-type]
    (lambda: make_scenario(seed="7"), "seed must be a whole number, got '7'"),  # type: ignore[arg-type]
    (lambda: make_scenario(seed=True), "seed must be a whole number, got True"),
    (lambda: make_scenario(limit="7"), "the step limit must be a whole number, got '7'"),  # type: ignore[arg-type]
    (lambda: read_tier(None), "unknown tier 'None'"),  # type: ignore[arg-type]
    (lambda: action_to_wire(None), "None is not an action; send one such as"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=[of[1] for of in MISTAKES])
def test_a_mistake_is_an_error_of_one_line(mistake: Callable[[], Any], message: str) -> None:
    with pytest.raises(ChaosOpsError, match=message) as error:
        mistake()
    assert "\n" not in str(error.value)


def test_a_seed_of_numpy_is_a_seed() -> None:
    numpy = pytest.importorskip("numpy")
    found: Scenario = make_scenario(seed=numpy.int64(7))
    assert type(found.seed) is int
