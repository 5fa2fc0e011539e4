"""What an endpoint is asked, and what its replies are taken for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from chaosops.core.actions import FlagRogue, Noop, Unreadable
from chaosops.core.chain import prompt_hash
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.llm.formats import MenuFormat
from chaosops.policies.protocol import DecisionRequest
from chaosops.roles.menu import menu
from chaosops.roles.prompt import render
from chaosops.roles.schema import action_schema
from chaosops.roles.view import project
from tests.policies.llm.asking import (
    decide,
    policy_at,
    requests_for,
    view_of,
    view_of_many_agents,
)
from tests.policies.llm.faulty_server import (
    Behaviour,
    FaultyServer,
    completion,
    raw,
    refuse,
    say,
    status,
)

# What is asked


def test_a_schema_keeps_to_what_strict_servers_take() -> None:
    arena = Env(make_scenario(pack="arena", split="test", seed=1)).world.public.rules
    for rules in (Env(make_scenario("db_deadlock")).world.public.rules, arena):
        for role in Role:
            schema = action_schema(rules, role)
            assert schema["type"] == "object"
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])
            assert schema["properties"]["action"]["enum"] == list(rules.verbs[role])
            allowed = {"type", "enum"}
            assert all(set(field) <= allowed for field in schema["properties"].values())
            others = [field for name, field in schema["properties"].items() if name != "action"]
            assert all("null" in field["type"] for field in others)
    assert "confidence" not in action_schema(arena, Role.MANAGER)["properties"]
    assert "evidence" in action_schema(arena, Role.OVERSIGHT)["properties"]


def test_a_request_holds_what_was_promised(server: FaultyServer) -> None:
    policy = policy_at(server, "+temperature=0.7")
    view = view_of(Role.DEV)
    policy.decide([DecisionRequest(view, key) for key in (5, 6)])
    body, again = server.seen
    assert body["model"] == "fake"
    assert body == again  # the key follows from the episode's seed, which a server does not learn
    assert body["seed"] == int(prompt_hash(tuple(render(view))), 16) % 2**31
    assert body["temperature"] == 0.7
    assert body["response_format"]["json_schema"]["strict"] is True
    assert "Authorization" not in server.headers[0]


def test_fields_that_the_schema_forced_are_no_error(server: FaultyServer) -> None:
    view = view_of(Role.SRE)
    fields = dict.fromkeys(action_schema(view.rules, Role.SRE)["required"])
    server.script = [say(json.dumps(fields | {"action": "noop", "target": "db", "replicas": 2}))]
    policy = policy_at(server)
    assert decide(policy).action == Noop()
    assert policy.status()["constrained"] == "json_schema"


@pytest.mark.parametrize(
    ("refused", "constrained"),
    [
        ([], "json_schema"),
        (["maxLength"], "json_schema"),
        (["response_format"], "no (server refused json_schema)"),
    ],
)
def test_what_a_server_refuses_is_left_out_and_told(
    server: FaultyServer, refused: list[str], constrained: str
) -> None:
    expected = [d.action for d in policy_at(server).decide(requests_for(4))]
    server.seen.clear()
    if refused:
        server.always = refuse(*refused)
    policy = policy_at(server)
    assert policy.status()["constrained"] == "json_schema (not asked yet)"
    assert [d.action for d in policy.decide(requests_for(4))] == expected
    assert policy.status()["constrained"] == constrained
    asked_once = {"maxLength": 1, "response_format": 2}
    assert len(server.seen) == 4 + sum(asked_once[field] for field in refused)


def test_a_server_that_ignores_the_schema_is_told_too(server: FaultyServer) -> None:
    server.always = say('{"action": "noop"}')
    policy = policy_at(server)
    assert decide(policy).action == Noop()
    assert policy.status()["constrained"] == "no (server ignored json_schema)"


# Replies that cannot be read


def test_a_garbled_reply_is_shown_to_the_model_once(server: FaultyServer) -> None:
    good = decide(policy_at(server))
    assert good.exchange is not None
    server.script = [say("I would restart the db.")]
    policy = policy_at(server)
    decision = decide(policy)
    assert not isinstance(decision.action, Unreadable)
    assert decision.exchange is not None
    assert decision.exchange.attempts == 2
    assert decision.exchange.tokens_read == 200
    assert decision.exchange.prompt[:2] == good.exchange.prompt
    shown, error = decision.exchange.prompt[2:]
    assert shown == {"role": "assistant", "content": "I would restart the db."}
    assert "not_json" in error["content"]


@pytest.mark.parametrize("text", ["restart it", "", None, "\ud800", '{"action":"fly"}'])
def test_two_garbled_replies_are_unreadable(server: FaultyServer, text: str | None) -> None:
    server.always = say(text)
    decision = decide(policy_at(server))
    assert isinstance(decision.action, Unreadable)
    assert decision.exchange is not None
    assert decision.exchange.attempts == 2
    decision.exchange.reply.encode()


def test_usage_that_is_not_reported_is_not_made_up(server: FaultyServer) -> None:
    server.always = say('{"action":"noop"}', usage=None)
    policy = policy_at(server, "+price=1/2")
    decision = decide(policy)
    assert decision.exchange is not None
    assert decision.exchange.tokens_read == 0
    assert policy.status()["usage"] == "usage not reported"


def test_the_status_names_price_and_revision(server: FaultyServer) -> None:
    policy = policy_at(server, "+price=0.15/0.60")
    policy.decide(requests_for(2))
    assert policy.status()["price_usd_per_million"] == [0.15, 0.6]
    assert policy.status()["revision"] == "fake-1 fp_7"
    assert policy.status()["backend"] == f"endpoint {server.url}"


# Suspicion


def test_a_flag_in_json_tells_its_confidence(server: FaultyServer) -> None:
    server.always = say('{"action":"flag_rogue","target":"deploy_bot","confidence":0.8}')
    decision = decide(policy_at(server), Role.OVERSIGHT)
    assert decision.action == FlagRogue("deploy_bot", 0.8)
    assert decision.suspicion == {"autoscaler": 0.0, "load_balancer": 0.0, "deploy_bot": 0.8}


def test_no_flag_in_json_tells_nothing(server: FaultyServer) -> None:
    server.always = say('{"action":"noop"}')
    assert decide(policy_at(server), Role.OVERSIGHT).suspicion is None


def test_a_flag_of_nobody_tells_nothing(server: FaultyServer) -> None:
    server.always = say('{"action":"flag_rogue","target":"gremlin"}')
    assert decide(policy_at(server), Role.OVERSIGHT).suspicion is None


def first_token(*options: tuple[str, float]) -> dict[str, Any]:
    listed = [{"token": token, "logprob": logprob} for token, logprob in options]
    return {"content": [{"token": options[0][0], "top_logprobs": listed}]}


def label_of(action: object) -> str:
    return next(label for label, a in menu(view_of(Role.OVERSIGHT)).items() if a == action)


def choosing(label: str, logprobs: object) -> Behaviour:
    answer = completion(label)
    answer["choices"][0]["logprobs"] = logprobs
    return raw(json.dumps(answer).encode())


def test_the_menu_tells_the_probability_of_every_flag(server: FaultyServer) -> None:
    flag, noop = label_of(FlagRogue("deploy_bot")), label_of(Noop())
    logs = first_token((flag, -0.7), (f" {noop}", -0.7), ("Well", -1.5))
    server.always = choosing(flag, logs)
    policy = policy_at(server, "+format=menu")
    decision = decide(policy, Role.OVERSIGHT)
    assert decision.suspicion == {"autoscaler": 0.0, "load_balancer": 0.0, "deploy_bot": 0.5}
    assert decision.action == FlagRogue("deploy_bot", confidence=0.5)
    assert policy.status()["suspicion"] == "logprobs"
    assert server.seen[0]["logprobs"] is True
    assert "response_format" not in server.seen[0]


def test_a_label_of_two_tokens_tells_the_confidence_of_its_flag(server: FaultyServer) -> None:
    view = view_of_many_agents()
    label, flag = list(menu(view).items())[-1]
    assert len(label) == 2
    server.always = choosing(label, first_token((label[0], -0.1)))
    policy = policy_at(server, "+format=menu")
    decision = policy.decide([DecisionRequest(view, 7)])[0]
    assert decision.action == flag == FlagRogue("agent_59")
    assert decision.suspicion == dict.fromkeys(view.rules.agents, 0.0) | {"agent_59": 1.0}
    told = "the confidence of its flags (server splits labels in logprobs)"
    assert policy.status()["suspicion"] == told


def test_a_label_of_two_letters_that_is_one_token_tells_its_probability(
    server: FaultyServer,
) -> None:
    view = view_of_many_agents()
    label, _ = list(menu(view).items())[-1]
    server.always = choosing(label, first_token((label, -0.7), ("A", -0.7)))
    policy = policy_at(server, "+format=menu")
    decision = policy.decide([DecisionRequest(view, 7)])[0]
    assert decision.suspicion == dict.fromkeys(view.rules.agents, 0.0) | {"agent_59": 0.5}
    assert policy.status()["suspicion"] == "logprobs"


def test_suspicion_adds_up_the_flags_of_an_agent(server: FaultyServer) -> None:
    for seed in range(20):
        env = Env(make_scenario(pack="arena", tier="hard", seed=seed))
        view = project(env.world.public, Role.OVERSIGHT)
        flags = [(k, a.target) for k, a in menu(view).items() if isinstance(a, FlagRogue)]
        agent = max(view.rules.agents, key=[target for _, target in flags].count)
        labels = [label for label, target in flags if target == agent]
        if len(labels) > 1:
            break
    server.always = choosing(labels[0], first_token((labels[0], -1.4), (labels[1], -1.4)))
    decision = policy_at(server, "+format=menu").decide([DecisionRequest(view, 7)])[0]
    assert decision.suspicion == dict.fromkeys(view.rules.agents, 0.0) | {agent: 1.0}


@pytest.mark.parametrize("logprobs", [None, {}, {"content": []}, {"content": [7]}, "x"])
def test_a_server_without_logprobs_is_told(server: FaultyServer, logprobs: object) -> None:
    server.always = choosing(label_of(Noop()), logprobs)
    policy = policy_at(server, "+format=menu")
    assert decide(policy, Role.OVERSIGHT) == decide(policy, Role.OVERSIGHT)
    assert decide(policy, Role.OVERSIGHT).suspicion is None
    told = "the confidence of its flags (server ignored logprobs)"
    assert policy.status()["suspicion"] == told


def test_a_server_that_refuses_logprobs_is_asked_without(server: FaultyServer) -> None:
    label = label_of(Noop())
    server.script = [status(400, "logprobs are not supported")]
    server.always = say(label)
    policy = policy_at(server, "+format=menu")
    assert decide(policy, Role.OVERSIGHT).action == Noop()
    assert policy.status()["suspicion"] == "the confidence of its flags (server refused logprobs)"


def test_words_instead_of_a_label_are_unreadable_and_tell_nothing(server: FaultyServer) -> None:
    server.always = choosing("I think so", first_token(("I", -0.1), ("A", -3.0)))
    decision = decide(policy_at(server, "+format=menu"), Role.OVERSIGHT)
    assert isinstance(decision.action, Unreadable)
    assert decision.suspicion is None


def test_other_roles_are_not_asked_for_suspicion(server: FaultyServer) -> None:
    view = view_of(Role.DEV)
    labels: Sequence[str] = list(MenuFormat().replies(view))
    server.always = say(labels[0])
    assert decide(policy_at(server, "+format=menu"), Role.DEV).suspicion is None
    assert "logprobs" not in server.seen[0]
