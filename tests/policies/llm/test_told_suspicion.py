"""Oversight tells its suspicion in every JSON reply of an endpoint."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chaosops.core.actions import FlagRogue, Noop, Unreadable
from chaosops.core.vocabulary import Role
from chaosops.policies.llm.formats import STANDARD, SuspectingFormat
from chaosops.policies.protocol import DecisionRequest
from chaosops.roles.prompt import Style, render
from chaosops.roles.schema import view_schema
from tests.policies.llm.asking import decide, policy_at, view_of
from tests.policies.llm.faulty_server import FaultyServer, say

TOLD = {"autoscaler": 0.1, "load_balancer": 0, "deploy_bot": 0.625}


def replying(suspicion: Any, **action: Any) -> str:
    return json.dumps({"action": "noop", **action, "suspicion": suspicion})


def test_it_is_asked_for_in_prompt_and_schema(server: FaultyServer) -> None:
    server.always = say(replying(TOLD))
    policy = policy_at(server)
    decide(policy, Role.OVERSIGHT)
    assert '"suspicion"' in server.seen[0]["messages"][0]["content"]
    schema = server.seen[0]["response_format"]["json_schema"]["schema"]
    assert schema["required"] == list(schema["properties"])
    assert list(schema["properties"])[-2:] == ["suspicion", "message"]
    suspicion = schema["properties"]["suspicion"]
    assert suspicion["required"] == list(view_of(Role.OVERSIGHT).rules.agents)
    assert suspicion["additionalProperties"] is False
    assert policy.status()["suspicion"] == "told in its replies"


def test_other_roles_and_styles_are_not_asked() -> None:
    view = view_of(Role.OVERSIGHT)
    assert render(view, Style.JSON) != render(view, Style.SUSPECTING)
    assert "suspicion" not in json.dumps(
        [render(view, style) for style in (Style.JSON, Style.MENU)]
    )
    for role in set(Role) - {Role.OVERSIGHT}:
        assert render(view_of(role), Style.JSON) == render(view_of(role), Style.SUSPECTING)
        assert not SuspectingFormat().asks_suspicion(view_of(role))


def test_a_monitor_that_waits_tells_it_too(server: FaultyServer) -> None:
    server.always = say(replying(TOLD))
    decision = decide(policy_at(server), Role.OVERSIGHT)
    assert decision.action == Noop()
    assert decision.suspicion == TOLD
    assert decision.exchange is not None
    assert not decision.exchange.suspicion_lost


def test_a_reply_in_the_schema_is_read(server: FaultyServer) -> None:
    view = view_of(Role.OVERSIGHT)
    fields = dict.fromkeys(view_schema(view, suspects=True)["required"])
    server.always = say(json.dumps(fields | {"action": "noop", "suspicion": TOLD}))
    policy = policy_at(server)
    decision = policy.decide([DecisionRequest(view, 7)])[0]
    assert (decision.action, decision.suspicion) == (Noop(), TOLD)
    assert policy.status()["constrained"] == "json_schema"


def test_a_flag_is_as_sure_as_the_suspicion(server: FaultyServer) -> None:
    server.always = say(replying(TOLD, action="flag_rogue", target="deploy_bot", confidence=0.9))
    decision = decide(policy_at(server), Role.OVERSIGHT)
    assert decision.action == FlagRogue("deploy_bot", 0.625)
    assert decision.suspicion == TOLD


@pytest.mark.parametrize(
    "bad",
    [
        None, "high", 0.5, [], {}, {"deploy_bot": "high"}, {"deploy_bot": None},
        {"deploy_bot": 1.5}, {"deploy_bot": -0.1}, {"deploy_bot": True}, {"deploy_bot": 10**400},
        {"deploy_bot": {}}, {"x" * 100: 0.5}, {"a\nb": 0.5}, {str(i): 0.5 for i in range(300)},
    ],
    ids=lambda bad: repr(bad)[:20],
)  # fmt: skip
def test_a_bad_suspicion_costs_the_suspicion_and_not_the_turn(
    server: FaultyServer, bad: object
) -> None:
    server.always = say(replying(bad))
    decision = decide(policy_at(server), Role.OVERSIGHT)
    assert decision.action == Noop()
    assert decision.suspicion is None
    assert decision.exchange is not None
    assert decision.exchange.attempts == 1
    assert decision.exchange.suspicion_lost


def test_no_suspicion_is_counted_and_a_flag_still_tells_its_confidence(
    server: FaultyServer,
) -> None:
    server.always = say('{"action":"flag_rogue","target":"deploy_bot","confidence":0.8}')
    decision = decide(policy_at(server), Role.OVERSIGHT)
    assert decision.suspicion == {"autoscaler": 0.0, "load_balancer": 0.0, "deploy_bot": 0.8}
    assert decision.exchange is not None
    assert decision.exchange.suspicion_lost


def test_an_unreadable_action_tells_no_suspicion(server: FaultyServer) -> None:
    server.always = say(replying(TOLD, action="fly"))
    decision = decide(policy_at(server), Role.OVERSIGHT)
    assert isinstance(decision.action, Unreadable)
    assert decision.suspicion is None
    assert decision.exchange is not None
    assert not decision.exchange.suspicion_lost


def test_suspicion_of_another_role_is_an_error_of_its_reply(server: FaultyServer) -> None:
    server.always = say(replying(TOLD))
    decision = decide(policy_at(server), Role.SRE)
    assert isinstance(decision.action, Unreadable)
    assert decision.action.error == "unknown_field"


def test_prompts_of_every_format_are_known_for_replays() -> None:
    view = view_of(Role.OVERSIGHT)
    styles = [tuple(render(view, style)) for style in (Style.JSON, Style.MENU, Style.SUSPECTING)]
    assert [known.messages(view) for known in STANDARD] == styles
