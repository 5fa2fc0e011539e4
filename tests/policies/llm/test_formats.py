from __future__ import annotations

import pytest

from chaosops.core.actions import Communicate, FlagRogue
from chaosops.core.dice import key_of
from chaosops.core.labels import LABELS, LETTERS
from chaosops.core.rules import Rulebook
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.llm.formats import FORMATS
from chaosops.policies.llm.weights import embedded_dense
from chaosops.roles.layouts.arena1 import SERVICES_OFFERED
from chaosops.roles.menu import acts_in_sight, menu
from chaosops.roles.schema import action_schema, view_schema
from chaosops.roles.view import RoleView, project
from tests.policies.llm.asking import view_of_many_agents


def views(pack: str = "arena") -> list[RoleView]:
    worlds = [Env(make_scenario("cascade", tier="hard", seed=3)).world]
    for seed in range(20):
        scenario = make_scenario(pack=pack, split="train", tier="hard", seed=seed)
        worlds.append(Env(scenario).world)
    return [project(world.public, role) for world in worlds for role in Role]


@pytest.mark.parametrize("name", FORMATS)
def test_every_reply_offered_is_read_back_and_legal(name: str) -> None:
    reply_format = FORMATS[name]
    for view in [*views(), *views("arena1"), view_of_many_agents()]:
        legal = set(view.rules.legal_actions(view.role))
        legal |= {FlagRogue(act.agent, evidence=act.id) for act in acts_in_sight(view)}
        replies = reply_format.replies(view)
        assert len(set(replies.values())) == len(replies)
        for reply, action in replies.items():
            assert action in legal
            assert reply_format.read(view, reply) == action


def test_json_offers_every_legal_action_but_talk() -> None:
    for view in views("arena1"):
        offered = set(FORMATS["json"].replies(view).values())
        legal = view.rules.legal_actions(view.role)
        assert offered == {action for action in legal if action.verb != "communicate"}


def test_a_json_flag_cites_an_act_in_sight() -> None:
    for view in views()[4:]:
        if view.role is not Role.OVERSIGHT:
            continue
        acts = acts_in_sight(view)
        flags = [a for a in FORMATS["json"].replies(view).values() if isinstance(a, FlagRogue)]
        assert {(f.target, f.evidence) for f in flags if f.evidence} == {
            (act.agent, act.id) for act in acts
        }
        assert {flag.target for flag in flags} == set(view.rules.agents)
        cited = view_schema(view)["properties"]["evidence"]["enum"]
        assert cited == [*(act.id for act in acts), None]


def test_a_menu_flag_names_an_act_in_sight_on_every_turn() -> None:
    env = Env(make_scenario(pack="arena", split="test", tier="hard", seed=1))
    while not env.over:
        view = project(env.world.public, Role.OVERSIGHT)
        flags = [action for action in menu(view).values() if isinstance(action, FlagRogue)]
        acts = acts_in_sight(view)
        assert flags == [FlagRogue(act.agent, evidence=act.id) for act in acts]
        assert {act.id for act in acts} <= {entry.id for entry in view.trace}
        assert len(acts) >= 3
        env.step({"action": "noop"})


@pytest.mark.parametrize("services", [8, 16, 60])
def test_a_menu_of_any_size_offers_everything(services: int) -> None:
    """More choices than letters, and more than labels that are one token: nothing is dropped."""
    public = Env(make_scenario("cascade")).world.public
    rules = Rulebook(
        tuple(f"service-{i}" for i in range(services)),
        *(public.rules.agents, public.rules.causes, public.rules.verbs, (1, 3, 5), "classic"),
        menus_key=key_of("a company"),
    )
    view = project(public._replace(rules=rules), Role.DEV)
    choices, legal = menu(view), rules.legal_actions(Role.DEV)
    assert len(choices) == len(legal) > {8: 0, 16: len(LETTERS), 60: len(LABELS)}[services]
    assert set(choices.values()) == set(legal)
    assert all(FORMATS["menu"].read(view, label) == action for label, action in choices.items())


def test_only_acts_in_sight_change_a_schema() -> None:
    for view in [*views("arena1"), *views()[:4]]:
        assert view_schema(view) == action_schema(view.rules, view.role)


def test_every_label_is_one_token_of_the_embedded_model() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(embedded_dense() / "tokenizer.json"))
    tokens = [tokenizer.encode(label, add_special_tokens=False).ids for label in LABELS]
    assert all(len(ids) == 1 for ids in tokens)
    assert len({ids[0] for ids in tokens}) == len(set(LABELS)) == len(LABELS)


def test_labels_are_drawn_for_each_company_from_those_that_are_known() -> None:
    found = views()[4:]
    developers = [menu(view) for view in found if view.role is Role.DEV]
    assert max(map(len, developers)) > len(LETTERS)
    for view in found:
        choices = menu(view)
        assert set(choices) <= set(LABELS if view.role is Role.DEV else LETTERS)
        assert choices["A"].verb == "noop"
    meant = {str(choices.get("B")) for choices in developers}
    assert len(meant) > 5


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
    """One label, one verb and one place, in every company and on every turn of version 1."""
    meaning: dict[tuple[Role, str], tuple[str, str]] = {}
    for view in views("arena1")[4:]:
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
    for view in views("arena1")[4:]:
        if view.role is Role.DEV:
            failing = [item.service for item in view.health if item.health]
            offered = {getattr(a, "target", None) for a in menu(view).values()} - {None}
            assert len(offered) == min(SERVICES_OFFERED, len(failing))


def test_a_label_off_the_menu_is_named() -> None:
    view = views()[0]
    read = FORMATS["menu"].read(view, "A is my choice")
    assert read.verb == "unreadable"
    assert "write one of A, B" in read.detail  # type: ignore[attr-defined]
