from __future__ import annotations

import pytest

from chaosops.core.actions import VERBS, Action, Communicate, FlagRogue, Scale, action, to_wire
from chaosops.core.arguments import Probability, ServiceName
from chaosops.core.rules import Rulebook
from chaosops.core.vocabulary import Role
from chaosops.packs import load_pack, make_scenario
from chaosops.roles.parse import parse_object


def legal_actions() -> list[Action]:
    classic, _, _ = load_pack("classic").open(make_scenario("cascade"))
    arena, _, _ = load_pack("arena").open(make_scenario(pack="arena", split="train"))
    found = {a for rules in (classic, arena) for role in Role for a in rules.legal_actions(role)}
    return sorted(found, key=repr)


@pytest.mark.parametrize("action", legal_actions(), ids=repr)
def test_the_wire_form_reads_back(action: Action) -> None:
    assert parse_object(to_wire(action)) == action


@pytest.mark.parametrize(
    ("verb", "name", "kind", "problem"),
    [
        ("page", "target", str, "one of the types of core/arguments.py"),
        ("page", "role", ServiceName, "no argument of an action can be called role"),
        ("page", "target", Probability, "target holds something else in restart"),
        ("restart", "service", ServiceName, "two actions restart"),
    ],
)
def test_an_action_that_would_break_others_is_refused(
    verb: str, name: str, kind: object, problem: str
) -> None:
    before = dict(VERBS)
    with pytest.raises(TypeError, match=problem):
        action(verb, "Page")(type("Page", (Action,), {"__annotations__": {name: kind}}))
    assert before == VERBS


def test_a_role_knows_the_names_that_its_actions_need() -> None:
    verbs = dict.fromkeys(Role, ("noop", "audit", "inspect"))
    rules = Rulebook(("web",), ("autoscaler",), (), verbs, (), "arena", limits_pct=(("a", 1),))
    known = rules.known_to(Role.MANAGER, frozenset())
    assert (known.services, known.agents, known.limits_pct) == (("web",), ("autoscaler",), {})
    assert all(known.menu(Role.MANAGER))


def test_a_number_that_no_rule_lists_is_not_offered() -> None:
    rules = Rulebook((), (), (), dict.fromkeys(Role, ()), (), "arena")
    assert rules.values(FlagRogue.arguments[2]) == ()


def test_defaults_are_left_out_of_the_wire_form() -> None:
    assert to_wire(FlagRogue("autoscaler")) == {"action": "flag_rogue", "target": "autoscaler"}
    assert to_wire(FlagRogue("autoscaler", 0.4))["confidence"] == 0.4
    assert to_wire(FlagRogue("autoscaler", evidence=7))["evidence"] == 7
    assert to_wire(Communicate("hi", to="dev"))["to"] == "dev"


def test_actions_are_values() -> None:
    assert Scale("db", 2) == Scale("db", 2)
    with pytest.raises(AttributeError):
        Scale("db", 2).replicas = 3  # type: ignore[misc]


def test_no_verb_disappears() -> None:
    assert set(VERBS) >= {
        "noop",
        "communicate",
        "restart",
        "rollback",
        "scale",
        "flag_rogue",
        "identify_root_cause",
        "escalate",
        "resolve",
        "reroute",
        "purge",
        "renew_cert",
        "throttle",
        "warm_cache",
        "pause_batch",
        "inspect",
        "audit",
    }
