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
from chaosops.roles.layouts.arena import SERVICES_OFFERED
from chaosops.roles.menu import acts_in_sight, menu
from chaosops.roles.schema import action_schema, view_schema
from chaosops.roles.sight import concerned
from chaosops.roles.view import RoleView, project
from tests.policies.llm.asking import view_of_many_agents


def views() -> list[RoleView]:
    """Of a classic incident, and then of companies."""
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
        legal |= {FlagRogue(act.agent, evidence=act.id) for act in acts_in_sight(view)}
        replies = reply_format.replies(view)
        assert len(set(replies.values())) == len(replies)
        for reply, action in replies.items():
            assert action in legal
            assert reply_format.read(view, reply) == action


def test_json_offers_every_legal_action_but_talk() -> None:
    """A flag cites the acts in sight, if there are some: the next test."""
    for view in views():
        but = {"communicate", *(["flag_rogue"] if acts_in_sight(view) else [])}
        offered = FORMATS["json"].replies(view).values()
        legal = view.rules.legal_actions(view.role)
        kept, wanted = ({act for act in of if act.verb not in but} for of in (offered, legal))
        assert kept == wanted


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
    for view in views():
        differs = view_schema(view) != action_schema(view.rules, view.role)
        assert differs == bool(acts_in_sight(view))


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


def test_a_menu_offers_the_services_that_the_trouble_points_at() -> None:
    for view in views()[4:]:
        if view.role is Role.DEV:
            offered = {getattr(a, "target", None) for a in menu(view).values()} - {None}
            assert offered == set(concerned(view)[:SERVICES_OFFERED])


def test_a_label_off_the_menu_is_named() -> None:
    view = views()[0]
    read = FORMATS["menu"].read(view, "A is my choice")
    assert read.verb == "unreadable"
    assert "write one of A, B" in read.detail  # type: ignore[attr-defined]
