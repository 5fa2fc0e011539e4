"""What a model writes before its answer is taken off and counted."""

from __future__ import annotations

import json

import pytest

from chaosops.core.actions import FlagRogue, Noop, Unreadable
from chaosops.core.vocabulary import Role
from chaosops.policies.llm.reasoning import split_prose, split_reasoning
from chaosops.roles.menu import menu
from chaosops.wire.episodes import episode_to_wire, from_record, to_record
from tests.policies.llm.asking import decide, policy_at, view_of
from tests.policies.llm.faulty_server import Body, FaultyServer, completion, raw, say

NOOP = '{"action":"noop"}'


@pytest.mark.parametrize(
    ("text", "reasoning"),
    [
        (NOOP, ""),
        (f"<think>Is it db?</think>{NOOP}", "Is it db?"),
        (f"<think>\n\n</think>\n\n{NOOP}", ""),
        (f"Is it db?</think>\n{NOOP}", "Is it db?"),
        (f"[THINK]Is it db?[/THINK]{NOOP}", "Is it db?"),
        (f"<THINK>a {{ b</THINK> So: {NOOP}", "a { bSo:"),
        (f"It is calm.\n\n{NOOP}\n", "It is calm."),
        (f"```json\n{NOOP}\n```", ""),
        (f"```{NOOP}```", ""),
        (f"It is calm:\n```json\n{NOOP}\n```\n", "It is calm:"),
        (f'Not {{"action":"resolve"}}, rather {NOOP}', 'Not {"action":"resolve"}, rather'),
        ("x" * 9000 + NOOP, "x" * 9000),
    ],
)
def test_the_answer_is_read_and_the_rest_counted(
    server: FaultyServer, text: str, reasoning: str
) -> None:
    server.always = say(text)
    decision = decide(policy_at(server))
    assert decision.action == Noop()
    assert decision.exchange is not None
    assert decision.exchange.attempts == 1
    assert decision.exchange.reasoning_chars == len(reasoning)
    assert json.loads(decision.exchange.reply.strip().strip("`json\n")) == {"action": "noop"}


@pytest.mark.parametrize(
    "text", [f"{NOOP} That is all.", "<think>Is it db? {", f"<think>{NOOP}", "I wait {", "{{{{"]
)
def test_without_an_answer_at_the_end_nothing_is_read(server: FaultyServer, text: str) -> None:
    server.always = say(text)
    assert isinstance(decide(policy_at(server)).action, Unreadable)


def test_tags_in_a_message_are_words() -> None:
    reply = json.dumps({"action": "communicate", "message": "I </think> so"})
    assert split_reasoning(reply) == split_prose(reply) == (reply, 0)


@pytest.mark.parametrize("hostile", ['{"a":' * 40_000, "{" * 100_000, "<think>" * 50_000])
def test_a_hostile_reply_takes_no_time(hostile: str) -> None:
    assert split_prose(split_reasoning(hostile).answer).reasoning_chars == 0


@pytest.mark.parametrize(
    "fields", [["reasoning_content"], ["reasoning"], ["reasoning", "reasoning_content"]]
)
def test_reasoning_in_a_field_of_its_own_is_counted_once(
    server: FaultyServer, fields: list[str]
) -> None:
    answer = completion(NOOP)
    answer["choices"][0]["message"] |= dict.fromkeys(fields, "Is it db?")
    server.always = raw(json.dumps(answer).encode())
    decision = decide(policy_at(server))
    assert decision.action == Noop()
    assert decision.exchange is not None
    assert decision.exchange.reasoning_chars == 9


def test_a_reply_may_come_in_parts(server: FaultyServer) -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": NOOP}, 7]
    answer = completion(None)
    answer["choices"][0]["message"]["content"] = parts
    server.always = raw(json.dumps(answer).encode())
    assert decide(policy_at(server)).action == Noop()


def test_a_reply_that_ends_in_its_reasoning_says_what_to_write(
    server: FaultyServer, capsys: pytest.CaptureFixture[str]
) -> None:
    cut: Body = completion("<think>Is it db? Is it")
    cut["choices"][0]["finish_reason"] = "length"
    server.always = raw(json.dumps(cut).encode())
    policy = policy_at(server)
    for _ in range(2):
        decision = decide(policy)
    assert isinstance(decision.action, Unreadable)
    assert decision.exchange is not None
    assert decision.exchange.reply == ""
    assert decision.exchange.reasoning_chars == 2 * 15  # both attempts
    (line,) = capsys.readouterr().err.splitlines()
    assert "+max_tokens=8000" in line


def test_a_label_after_reasoning_tells_its_probability(server: FaultyServer) -> None:
    labels = {action: label for label, action in menu(view_of(Role.OVERSIGHT)).items()}
    flag = labels[FlagRogue("deploy_bot")]
    tokens = ["<think>", " who", "</think>", "\n\n", flag]
    answer = completion("".join(tokens))
    answer["choices"][0]["logprobs"] = {
        "content": [
            {
                "token": t,
                "top_logprobs": [{"token": t, "logprob": -0.5}, {"token": "Z", "logprob": -3}],
            }
            for t in tokens
        ]
    }
    server.always = raw(json.dumps(answer).encode())
    policy = policy_at(server, "+format=menu+max_tokens=2000")
    decision = decide(policy, Role.OVERSIGHT)
    assert isinstance(decision.action, FlagRogue)
    assert decision.suspicion is not None
    assert decision.suspicion["deploy_bot"] > 0.9
    assert policy.status()["suspicion"] == "logprobs"


def test_an_episode_keeps_the_counts(server: FaultyServer) -> None:
    from chaosops.packs import make_scenario
    from chaosops.rollout import Team, play

    server.always = say(f"<think>Is it db?</think>{NOOP}")
    episode = play(make_scenario("db_deadlock", limit=4), Team.of(policy_at(server)))
    wire = episode_to_wire(episode)
    assert wire["reasoning_chars"] == 4 * 9
    assert wire["lost_suspicions"] == 1
    assert [turn.get("suspicion_lost") for turn in wire["turns"]].count(True) == 1
    assert from_record(to_record(episode)) == episode
