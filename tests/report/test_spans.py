"""An episode as a trace: complete, the same each time, and without the truth for the roles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from chaosops import Team, load_policy, make_scenario, play
from chaosops.core.episode import Episode, Score
from chaosops.core.vocabulary import Role
from chaosops.report.otlp import to_protobuf
from chaosops.report.spans import MINUTE_NS, trace_of
from tests.fake_model import FakeModel

NASTY = 'hm </pre> \x1b[31m\ud83d \u202e "quoted"'
Span = dict[str, Any]


def played() -> tuple[Episode, dict[str, Any]]:
    model = FakeModel("heuristic", {2: NASTY})
    team = Team({**dict.fromkeys(Role, model), Role.DEV: load_policy("heuristic")})
    episode = play(make_scenario("autoscaler_cost_cut", tier="hard", seed=42), team)
    command = "chaosops run --scenario autoscaler_cost_cut"
    return episode, {"command": command, "pack_hash": "feed", "policy_status": team.status()}


def spans_of(trace: Mapping[str, Any]) -> list[Span]:
    (resource,) = trace["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    spans: list[Span] = scope["spans"]
    return spans


def about(span: Span) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}


def test_every_turn_and_every_exchange_is_a_span() -> None:
    episode, manifest = played()
    spans = spans_of(trace_of(episode, manifest))
    by_id = {span["spanId"]: span for span in spans}
    assert len(by_id) == len(spans) == 2 + episode.steps + len(episode.exchanges)
    assert len({span["traceId"] for span in spans}) == 1
    root, *others = spans
    assert "parentSpanId" not in root
    turns = [span for span in others if span["name"].startswith("invoke_agent ")]
    assert [span["name"] for span in turns] == [f"invoke_agent {t.role}" for t in episode.turns]
    for turn, span in zip(episode.turns, turns, strict=True):
        assert span["parentSpanId"] == root["spanId"]
        assert json.loads(about(span)["output.value"])["action"] == turn.decision.action.verb
        assert about(span)["input.value"].startswith(f"Step {turn.events.step} of 25.")
    chats = [span for span in others if span["name"] == "chat fake/tiny-1b"]
    assert len(chats) == len(episode.exchanges)
    for exchange, span in zip(episode.exchanges, chats, strict=True):
        assert by_id[span["parentSpanId"]] in turns
        told = about(span)
        assert told["gen_ai.operation.name"] == "chat"
        assert told["gen_ai.usage.input_tokens"] == str(exchange.tokens_read)
        (system,) = json.loads(told["gen_ai.system_instructions"])
        assert system == {"type": "text", "content": exchange.prompt[0]["content"]}
        messages = json.loads(told["gen_ai.input.messages"])
        assert len(messages) == len(exchange.prompt) - 1
        (reply,) = json.loads(told["gen_ai.output.messages"])
        assert reply["role"] == "assistant"


def test_times_are_nested_and_a_recording_has_simulated_ones() -> None:
    episode, manifest = played()
    for ends_ns in ((), [10**18 + 7 * i for i in range(episode.steps + 1)]):
        root, *others = spans_of(trace_of(episode, manifest, ends_ns))
        begin, end = int(root["startTimeUnixNano"]), int(root["endTimeUnixNano"])
        assert end - begin == episode.steps * (7 if ends_ns else MINUTE_NS)
        for span in others:
            assert begin <= int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) <= end


def test_only_the_labels_hold_the_truth() -> None:
    """Exchange all that the world knows and judges. No other span may change by a letter."""
    episode, manifest = played()
    turns = [
        turn._replace(
            events=turn.events._replace(
                rogue_flagged=not turn.events.rogue_flagged,
                false_flag=not turn.events.false_flag,
                cause_named=not turn.events.cause_named,
                wrong_fix=not turn.events.wrong_fix,
            ),
            score=Score(-77.5, {"oversight": -77.5}, {}),
        )
        for turn in episode.turns
    ]
    other = replace(episode, cause="SECRET", rogue="SECRET", turns=turns)
    before, after = spans_of(trace_of(episode, manifest)), spans_of(trace_of(other, manifest))
    assert [span["name"] for span in before if span not in after] == ["labels"]
    assert about(before[-1])["chaosops.label.rogue"] == "autoscaler"
    assert about(before[-1])["chaosops.label.command"] == manifest["command"]
    assert "autoscaler_cost_cut" not in json.dumps(before[0])


def test_the_labels_say_how_each_turn_was_judged() -> None:
    episode, manifest = played()
    labels = spans_of(trace_of(episode, manifest))[-1]
    scores = [about(event)["gen_ai.evaluation.score.value"] for event in labels["events"]]
    assert scores == [turn.score.total for turn in episode.turns]
    words = [about(event).get("gen_ai.evaluation.score.label") for event in labels["events"]]
    assert "INCIDENT RESOLVED" in words


def test_ids_follow_from_the_episode() -> None:
    (episode, manifest), (again, _) = played(), played()
    assert json.dumps(trace_of(episode, manifest)) == json.dumps(trace_of(again, manifest))
    other = play(make_scenario("autoscaler_cost_cut", tier="hard", seed=43), Team.of(FakeModel()))
    ids = [{s["spanId"] for s in spans_of(trace_of(each, manifest))} for each in (episode, other)]
    assert not ids[0] & ids[1]


@pytest.mark.parametrize("pack", ["classic", "arena"])
@pytest.mark.parametrize("policy", ["random", "oracle"])
def test_protocol_buffers_hold_what_the_json_form_holds(pack: str, policy: str) -> None:
    episode = play(make_scenario(pack=pack, tier="hard", seed=3), policy)
    trace = trace_of(episode, {"policy_status": load_policy(policy).status()})
    read = MessageToDict(TracesData.FromString(to_protobuf(trace)))
    for ours, theirs in zip(spans_of(trace), spans_of(read), strict=True):
        assert (ours["name"], about(ours)) == (theirs["name"], about(theirs))
        assert ours["startTimeUnixNano"] == theirs["startTimeUnixNano"]


def test_what_a_model_writes_is_made_safe() -> None:
    episode, manifest = played()
    trace = trace_of(episode, manifest)
    to_protobuf(trace)
    spans = spans_of(trace)
    (place,) = (i for i, span in enumerate(spans) if span.get("status") == {"code": 2})
    turn, chat = spans[place : place + 2]
    assert (turn["name"], about(turn)["error.type"]) == ("invoke_agent oversight", "not_json")
    assert about(chat)["output.value"] == 'hm </pre> \ufffd[31m\ufffd \ufffd "quoted"'
    assert "\\ud83d" not in json.dumps(trace)
