from __future__ import annotations

import pytest

from chaosops.core.actions import Communicate
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.llm.formats import FORMATS
from chaosops.roles.layouts.arena import SERVICES_OFFERED
from chaosops.roles.menu import menu
from chaosops.roles.view import RoleView, project
from tests.policies.llm.asking import view_of_many_agents


def views() -> list[RoleView]:
    worlds = [Env(make_scenario("cascade", tier="hard", seed=3)).world]
    for seed in range(20):
        scenario = make_scenario(pack="arena", split="train", tier="hard", seed=seed)
        worlds.append(Env(scenario).world)
    return [project(world.public, role) for world in worlds for role in Role]


@pytest.mark.parametrize("name", FORMATS)
def test_every_reply_offered_is_read_back_and_legal(name: str) -> None:
    reply_format = FORMATS[name]
    for view in [*views(), view_of_many_agents()]:
        legal = set(view.rules.legal_actions(view.role))
        replies = reply_format.replies(view)
        assert len(set(replies.values())) == len(replies)
        for reply, action in replies.items():
            assert action in legal
            assert reply_format.read(view, reply) == action


def test_json_offers_every_legal_action_but_talk() -> None:
    for view in views():
        offered = set(FORMATS["json"].replies(view).values())
        legal = view.rules.legal_actions(view.role)
        assert offered == {action for action in legal if action.verb != "communicate"}


def test_what_is_begun_freely_can_be_read() -> None:
    view = views()[0]
    opening = FORMATS["json"].opening(view)
    assert opening is not None
    assert FORMATS["json"].read(view, opening + 'look at db"}') == Communicate("look at db")


def test_a_classic_menu_offers_everything() -> None:
    for role in Role:
        view = project(Env(make_scenario("cascade")).world.public, role)
        assert list(menu(view).values()) == list(view.rules.legal_actions(role))


def test_labels_are_single_letters_that_keep_their_meaning() -> None:
    """One label, one verb and one place, in every company and on every turn."""
    meaning: dict[tuple[Role, str], tuple[str, str]] = {}
    for view in views()[4:]:
        failing = [item.service for item in view.health if item.health]
        for label, action in menu(view).items():
            assert len(label) == 1
            target = getattr(action, "target", "")
            if target in view.rules.services:
                assert target in failing
                target = "a service"
            elif target:
                target = "an agent"
            meant = (action.verb, str(target))
            if view.role is not Role.OVERSIGHT:  # fleets differ in size
                assert meaning.setdefault((view.role, label), meant) == meant


def test_a_menu_offers_the_deepest_failing_services() -> None:
    for view in views()[4:]:
        if view.role is Role.DEV:
            failing = [item.service for item in view.health if item.health]
            offered = {getattr(a, "target", None) for a in menu(view).values()} - {None}
            assert len(offered) == min(SERVICES_OFFERED, len(failing))


def test_a_label_off_the_menu_is_named() -> None:
    view = views()[0]
    read = FORMATS["menu"].read(view, "A is my choice")
    assert read.verb == "unreadable"
    assert "write one of A, B" in read.detail  # type: ignore[attr-defined]
