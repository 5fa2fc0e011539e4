"""A model behind an endpoint can neither end an evaluation nor bend its figures."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops.core.actions import FlagRogue, Noop, Unreadable
from chaosops.core.chain import read_json
from chaosops.core.vocabulary import Role
from chaosops.policies.llm.answers import MAX_TOKENS_TOLD, Fault, read_answer
from chaosops.policies.llm.formats import FORMATS, filled_in
from chaosops.policies.llm.http_chat import EndpointDown, EndpointRefused
from chaosops.roles.menu import menu
from chaosops.roles.parse import MAX_REPLY_CHARS, parse
from chaosops.roles.schema import action_schema
from chaosops.wire.decisions import sent_decision
from chaosops.wire.openenv import ChaosOpsAction
from tests.conftest import Outcome
from tests.policies.llm.asking import decide, policy_at, view_of
from tests.policies.llm.faulty_server import (
    Behaviour,
    Body,
    FaultyServer,
    Handler,
    completion,
    raw,
    say,
)

Cli = Callable[..., Outcome]

HUGE = "9" * 400  # a whole number that JSON may hold and no float can


def with_numbers(text: str, **numbers: str) -> Behaviour:
    """A completion in which ``"NAME"`` stands for a number that ``json.dumps`` would not write."""
    body = completion(text)
    body["usage"]["prompt_tokens"] = "PROMPT_TOKENS"
    top = [{"token": text, "logprob": "LOGPROB"}]
    body["choices"][0]["logprobs"] = {"content": [{"token": text, "top_logprobs": top}]}
    written = json.dumps(body)
    for name, number in ({"prompt_tokens": "1", "logprob": "-0.1"} | numbers).items():
        written = written.replace(f'"{name.upper()}"', number)
    return raw(written.encode())


# Numbers


def a_flag() -> str:
    options = menu(view_of(Role.OVERSIGHT)).items()
    return next(label for label, action in options if isinstance(action, FlagRogue))


def test_a_usual_logprob_is_a_suspicion(server: FaultyServer) -> None:
    server.always = with_numbers(a_flag())
    policy = policy_at(server, "+format=menu")
    decision = decide(policy, Role.OVERSIGHT)
    assert decision.suspicion is not None
    assert max(decision.suspicion.values()) == 1.0
    assert policy.status()["suspicion"] == "logprobs"


@pytest.mark.parametrize(
    "number",
    [HUGE, f"-{HUGE}", "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "true", '"-1"', "null"],
)
def test_a_logprob_that_is_no_finite_number_is_none(server: FaultyServer, number: str) -> None:
    label = a_flag()
    server.always = with_numbers(label, logprob=number)
    policy = policy_at(server, "+format=menu")
    decision = decide(policy, Role.OVERSIGHT)
    assert "ignored logprobs" in policy.status()["suspicion"]
    flag = menu(view_of(Role.OVERSIGHT))[label]
    assert decision.action == flag
    assert isinstance(flag, FlagRogue)
    # As from a server without logprobs: the flag's own confidence.
    assert decision.suspicion is not None
    assert decision.suspicion[flag.target] == flag.confidence
    json.dumps(dict(decision.suspicion), allow_nan=False)


@pytest.mark.parametrize("number", [HUGE, str(MAX_TOKENS_TOLD + 1), "NaN", "1e999", "-1", "true"])
def test_a_usage_beyond_reason_is_not_reported(server: FaultyServer, number: str) -> None:
    server.always = with_numbers('{"action":"noop"}', prompt_tokens=number)
    policy = policy_at(server)
    exchange = decide(policy).exchange
    assert exchange is not None
    assert exchange.tokens_read == 0
    assert policy.status()["usage"] == "usage not reported"


def test_a_large_usage_is_reported(server: FaultyServer) -> None:
    server.always = with_numbers('{"action":"noop"}', prompt_tokens=str(MAX_TOKENS_TOLD))
    policy = policy_at(server)
    exchange = decide(policy).exchange
    assert exchange is not None
    assert exchange.tokens_read == MAX_TOKENS_TOLD
    assert policy.status()["usage"] == "reported"


@pytest.mark.parametrize("number", [HUGE, f"-{HUGE}", "NaN", "Infinity", "1e999"])
def test_a_confidence_that_is_no_probability_is_unreadable(
    server: FaultyServer, number: str
) -> None:
    agent = view_of(Role.OVERSIGHT).rules.agents[0]
    reply = f'{{"action":"flag_rogue","target":"{agent}","confidence":{number}}}'
    server.always = say(reply)
    decision = decide(policy_at(server), Role.OVERSIGHT)
    assert isinstance(decision.action, Unreadable)
    assert decision.action.error == "bad_value"
    assert decision.suspicion is None


# Sizes


def packed(encoding: str, content: bytes, code: int = 200) -> Behaviour:
    return lambda handler, body: handler.send(code, content, Content_Encoding=encoding)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate", "gzip, gzip", "x" * 900])
def test_nothing_is_unpacked(server: FaultyServer, encoding: str) -> None:
    bomb = gzip.compress(b" " * 30_000_000)
    server.always = packed(encoding, bomb)
    tracemalloc.start()
    with pytest.raises(EndpointDown, match="packed with") as raised:
        decide(policy_at(server, "+timeout=2+patience=0"))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10_000_000
    assert len(str(raised.value).splitlines()) == 1
    assert len(str(raised.value)) < 400
    assert {sent["Accept-Encoding"] for sent in server.headers} == {"identity"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"choices": [{"message": "noop"}]}', "an answer whose message is text, not an object"),
        (b'{"choices": []}', "an answer without choices"),
    ],
)
def test_an_answer_of_another_form_is_named(body: bytes, said: str) -> None:
    with pytest.raises(Fault, match=said):
        read_answer(body)


def test_identity_is_no_packing(server: FaultyServer) -> None:
    content = json.dumps(completion('{"action":"noop"}')).encode()
    server.always = packed("identity", content)
    assert decide(policy_at(server)).action == Noop()


def test_a_packed_refusal_is_still_a_refusal(server: FaultyServer) -> None:
    server.always = packed("gzip", gzip.compress(b"no such key"), 401)
    with pytest.raises(EndpointRefused, match="answered 401; no key was sent"):
        decide(policy_at(server))


def long_replies() -> dict[str, str]:
    """Each would be an action, if only a part of it were read."""
    fields = dict.fromkeys(action_schema(view_of(Role.OVERSIGHT).rules, Role.OVERSIGHT)["required"])
    filled = json.dumps(fields | {"action": "noop"})
    padding = " " * MAX_REPLY_CHARS
    return {
        "text": "x" * 1_000_000,
        "filled": filled + padding,
        "filled, then words": filled + padding + "no",
        "fields": json.dumps(fields | {"action": "noop", "target": "y" * 1_000_000}),
        "json": '{"action":"noop"}' + padding + "no",
        "label": a_flag() + padding + "no",
    }


@pytest.mark.parametrize("form", ["json", "menu"])
@pytest.mark.parametrize("kind", list(long_replies()))
def test_a_reply_that_is_too_long_is_cut_and_stays_too_long(
    server: FaultyServer, kind: str, form: str
) -> None:
    server.always = say(long_replies()[kind])
    decision = decide(policy_at(server, f"+format={form}"), Role.OVERSIGHT)
    assert isinstance(decision.action, Unreadable)
    assert decision.action.error == "too_long"
    exchange = decision.exchange
    assert exchange is not None
    assert len(exchange.reply) == MAX_REPLY_CHARS + 1
    assert max(len(message["content"]) for message in exchange.prompt[2:]) == len(exchange.reply)
    view = view_of(Role.OVERSIGHT)
    assert filled_in(exchange.reply, action_schema(view.rules, view.role)) is None
    assert {known.read(view, exchange.reply) for known in FORMATS.values()} == {decision.action}
    sent = sent_decision(decision)
    ChaosOpsAction.model_validate(sent)  # a server takes it
    assert isinstance(parse(sent["reply"]), Unreadable)


def test_the_longest_reply_is_kept_whole(server: FaultyServer) -> None:
    reply = '{"action":"noop"}'.ljust(MAX_REPLY_CHARS)
    server.always = say(reply)
    decision = decide(policy_at(server))
    assert decision.action == Noop()
    assert decision.exchange is not None
    assert decision.exchange.reply == reply


def test_revisions_without_end_are_counted(server: FaultyServer) -> None:
    policy = policy_at(server, "+concurrency=1")
    for number in range(1, 13):
        server.always = say('{"action":"noop"}', model="m", system_fingerprint=f"fp{number:02}")
        decide(policy)
        names = [f"m fp{i:02}" for i in range(1, number + 1)]
        more = f" and {number - 8} more" if number > 8 else ""
        assert policy.status()["revision"] == ", ".join(names[:8]) + more


def every_attack(server: FaultyServer) -> Behaviour:
    """All that can be sent in one answer, and each answer another."""

    def behave(handler: Handler, body: Body) -> None:
        number = len(server.seen)
        text = [a_flag(), "x" * 100_000, '{"action":"flag_rogue","confidence":NaN}'][number % 3]
        logprob = ["NaN", f"-{HUGE}", "-1e999"][number % 3]
        with_numbers(text, logprob=logprob, prompt_tokens=HUGE)(handler, body)

    return behave


@pytest.mark.parametrize("form", ["json", "menu"])
def test_an_evaluation_ends_and_verifies(
    server: FaultyServer, cli: Cli, tmp_path: Path, form: str
) -> None:
    server.always = every_attack(server)
    team = f"oversight=openai:fake@{server.url}+format={form},others=heuristic"
    folder = tmp_path / "hostile"
    words = ["--pack", "arena", "--split", "test", "--tiers", "easy", "--seeds", "2"]
    done = cli("eval", "--team", team, *words, "--no-figures", "--out", str(folder))
    assert done.code == 0, done.err
    assert len(server.seen) > 3
    for file in folder.glob("*.json"):
        read_json(file.read_text(encoding="utf-8"))  # no NaN and no infinity
    verified = cli("verify", str(folder))
    assert verified.code == 0, verified.out + verified.err
