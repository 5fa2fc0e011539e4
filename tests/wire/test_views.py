from __future__ import annotations

import json

import pytest

from chaosops import Env, Team, load_policy, make_scenario, play
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.policies.protocol import DecisionRequest
from chaosops.roles.menu import menu
from chaosops.roles.prompt import Style, render
from chaosops.roles.schema import action_schema
from chaosops.roles.view import project
from chaosops.wire.views import join_rules, read_rules, read_view, rules_to_wire, view_to_wire

SCENARIOS = [
    make_scenario("rogue_deploy_bot", tier="hard", seed=5),
    make_scenario(pack="arena", split="train", tier="easy", seed=2),
    make_scenario(pack="arena", split="ood_rogue", tier="hard", seed=9),
]


@pytest.mark.parametrize("policy", ["random", "heuristic"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: f"{s.pack} {s.tier}")
def test_a_view_survives_the_wire(scenario: Scenario, policy: str) -> None:
    env = Env(scenario)
    rules = read_rules(json.loads(json.dumps(rules_to_wire(env.world.public.rules))))
    assert rules == env.world.public.rules
    for turn in play(scenario, Team.of(load_policy(policy))).turns:
        for role in Role:
            view = project(env.world.public, role)
            assert read_view(json.loads(json.dumps(view_to_wire(view))), rules) == view
        env.play(turn.decision)


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: f"{s.pack} {s.tier}")
def test_what_a_seat_is_told_is_enough_for_its_views(scenario: Scenario, role: Role) -> None:
    """Equal views, prompts and menus from the role's own rules and from all of them."""
    public = Env(scenario).world.public
    view = project(public, role)
    told = json.loads(json.dumps(rules_to_wire(view.rules)))
    rules = read_rules(told)
    there = read_view(json.loads(json.dumps(view_to_wire(view))), rules)
    assert there == view
    assert there.rules.legal_actions(role) == public.rules.legal_actions(role)
    assert [render(there, style) for style in Style] == [render(view, style) for style in Style]
    assert menu(there) == menu(view)
    assert action_schema(there.rules, role) == action_schema(public.rules, role)
    for name in ("random", "keyword", "heuristic", "last_toucher"):
        policy = load_policy(name)
        assert policy.decide([DecisionRequest(there, 7)]) == policy.decide(
            [DecisionRequest(view, 7)]
        )


def test_a_player_of_two_roles_can_write_the_menus_of_both() -> None:
    public = Env(SCENARIOS[2]).world.public
    views = [project(public, role) for role in (Role.OVERSIGHT, Role.DEV)]
    rules = read_rules(json.loads(json.dumps(join_rules(view.rules for view in views))))
    for view in views:
        assert menu(read_view(view_to_wire(view), rules)) == menu(view)
