"""What an agent receives has no key by which the company could be found."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from chaosops import Env, Team, load_policy, make_scenario, play
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.packs import load_pack
from chaosops.roles.prompt import Style, render
from chaosops.roles.schema import action_schema
from chaosops.roles.view import RoleView, project
from chaosops.server.episode import ServedEpisode, observation, state_of
from chaosops.server.options import read_options
from chaosops.wire.views import rules_to_wire, view_to_wire
from tests.keys import MOST, keys_derived, large_numbers

COMPANIES = [
    make_scenario(pack="arena", split=split, tier=tier, seed=seed)
    for seed, split in enumerate(load_pack("arena").splits)
    for tier in ("medium", "hard")
]


def told_to(view: RoleView) -> list[Any]:
    """Everything that a seat or a model receives about a view."""
    return [
        rules_to_wire(view.rules),
        view_to_wire(view),
        *(render(view, style) for style in Style),
        action_schema(view.rules, view.role),
    ]


@pytest.mark.parametrize("scenario", COMPANIES, ids=lambda s: f"{s.split} {s.tier}")
def test_no_view_holds_a_key_of_its_company(scenario: Scenario) -> None:
    with keys_derived() as keys:
        turns = play(scenario, Team.of(load_policy("auditor"))).turns
        env = Env(scenario)
        told, stored = [], b""
        for turn in turns:
            for role in Role:
                view = project(env.world.public, role)
                told += told_to(view)
                stored += pickle.dumps(view)
            env.play(turn.decision)
    assert len(keys) > 30
    assert min(keys) > MOST
    assert not large_numbers(json.loads(json.dumps(told)))
    assert not [
        key for key in keys for order in ("big", "little") if key.to_bytes(8, order) in stored
    ]


def test_a_seat_has_the_order_of_its_own_menu_alone() -> None:
    for scenario in COMPANIES[:4]:
        public = Env(scenario).world.public
        for role in Role:
            assert list(rules_to_wire(project(public, role).rules)["menus"]) == [role.value]


@pytest.mark.parametrize("split", ["train", "test", "ood_rogue"])
def test_no_observation_holds_a_key_or_the_seed(split: str) -> None:
    asked = {"pack": "arena", "split": split, "seed": 987_654_321, "episode_id": "mine"}
    episode = ServedEpisode(read_options({**asked, "tier": "hard"}))
    told = observation("mine", episode.env, episode.seen, rules=episode.rules)
    state = state_of("mine", episode.env).model_dump()
    assert not large_numbers([told, state])
