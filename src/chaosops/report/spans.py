"""An episode as a trace of OpenTelemetry, in OTLP's JSON form.

    invoke_workflow chaosops         the episode, without its outcome for the roles
    ├── invoke_agent sre             a turn: what the role was shown, what it did
    │   └── chat MODEL               the exchange with a language model, if one played
    ├── …
    └── labels                       the truth, the rewards, and how each turn was judged

Only ``labels`` holds the truth, so that a monitor can read all other spans. The attributes are
those of the GenAI conventions, which are still in development; a few of OpenInference's show what
Phoenix does not take from them. Ids are hashes of the episode: it has the same ids each time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from chaosops.core.actions import is_failed_turn, to_wire
from chaosops.core.decision import Chat, Exchange
from chaosops.core.episode import Episode, Turn
from chaosops.core.printable import printable
from chaosops.report.prompts import shown_prompts
from chaosops.report.tables import by_roles
from chaosops.report.transcript import closing_lines, outcome_words, resolution_words, scenario_line
from chaosops.version import VERSION
from chaosops.wire.decisions import recorded_decision
from chaosops.wire.ending import explanation

Attributes = Mapping[str, str | int | float | None]  # what is None is left out
Status = Mapping[str, Any]

MINUTE_NS = 60 * 10**9
_YEAR_2000_NS = 946_684_800 * 10**9
_INTERNAL, _CLIENT = 1, 3
_FAILED = {"code": 2}


class Span(NamedTuple):
    """``path`` tells the spans of an episode apart; that of the parent comes before the slash."""

    path: str
    name: str
    start_ns: int
    end_ns: int
    attributes: Attributes
    kind: int = _INTERNAL
    failed: bool = False
    events: Sequence[tuple[str, int, Attributes]] = ()


def trace_of(
    episode: Episode, manifest: Mapping[str, Any], ends_ns: Sequence[int] = ()
) -> dict[str, Any]:
    """OTLP's ``TracesData``. ``ends_ns``: when the episode began, and when each turn ended. Without
    it a turn takes a minute, and the last one ends with the year 1999."""
    if not ends_ns:
        ends_ns = simulated_ns(episode, _YEAR_2000_NS)
    trace_id = _trace_id(episode)
    spans = [_to_wire(trace_id, span) for span in _spans(episode, manifest, ends_ns)]
    resource = {
        "service.name": "chaosops",
        "service.version": VERSION,
        "openinference.project.name": "chaosops",
    }
    scope = {"name": "chaosops", "version": VERSION}
    scoped = {"scope": scope, "spans": spans}
    of = {"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scoped]}
    return {"resourceSpans": [of]}


def simulated_ns(episode: Episode, end_ns: int) -> list[int]:
    """A minute a turn, until ``end_ns``."""
    return [end_ns - MINUTE_NS * left for left in range(episode.steps, -1, -1)]


def _trace_id(episode: Episode) -> str:
    """Of the decisions, not of how they were judged: another reward is the same trace."""
    played = {
        "scenario": episode.scenario.to_wire(),
        "team": episode.team,
        "decisions": [recorded_decision(turn.decision) for turn in episode.turns],
    }
    return blake2b(json.dumps(played, sort_keys=True).encode(), digest_size=16).hexdigest()


def _span_id(trace_id: str, path: str) -> str:
    return blake2b(f"{trace_id} {path}".encode(), digest_size=8).hexdigest()


def _spans(episode: Episode, manifest: Mapping[str, Any], ends_ns: Sequence[int]) -> Iterator[Span]:
    start_ns, end_ns = ends_ns[0], ends_ns[-1]
    yield Span("", "invoke_workflow chaosops", start_ns, end_ns, _of_episode(episode, manifest))
    statuses = {
        role: status
        for roles, status in by_roles(manifest.get("policy_status") or {})
        for role in roles
    }
    for i, (turn, prompt) in enumerate(zip(episode.turns, shown_prompts(episode), strict=True)):
        begun_ns, ended_ns = ends_ns[i : i + 2]
        status = statuses.get(turn.role, {})
        path = f"/turn {turn.events.step}"
        failed = turn.decision.action.verb == "unreadable"
        about = _of_turn(turn, prompt, status)
        name = f"invoke_agent {turn.role}"
        yield Span(path, name, begun_ns, ended_ns, about, failed=failed)
        if exchange := turn.decision.exchange:
            about = _of_exchange(exchange, status)
            failed = is_failed_turn(turn.decision.action)
            name = f"chat {_model(status)}"
            yield Span(f"{path}/chat", name, begun_ns, ended_ns, about, _CLIENT, failed)
    yield Span(
        "/labels",
        "labels",
        end_ns,
        end_ns,
        _labels(episode, manifest),
        events=[
            ("gen_ai.evaluation.result", ended_ns, _judged(turn))
            for turn, ended_ns in zip(episode.turns, ends_ns[1:], strict=True)
        ],
    )


def _of_episode(episode: Episode, manifest: Mapping[str, Any]) -> Attributes:
    scenario = episode.scenario
    return {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": "chaosops",
        "openinference.span.kind": "CHAIN",
        "input.value": scenario_line(scenario),
        "output.value": resolution_words(episode),
        # Not the failure and not the command, which may name it: see _labels.
        "chaosops.pack": scenario.pack,
        "chaosops.pack_hash": manifest.get("pack_hash"),
        "chaosops.split": scenario.split or None,
        "chaosops.tier": scenario.tier.value,
        "chaosops.seed": scenario.seed,
        "chaosops.steps": episode.steps,
        "chaosops.team": episode.team,
        "chaosops.commit": manifest.get("commit"),
    }


def _of_turn(turn: Turn, prompt: Chat, status: Status) -> Attributes:
    action, suspicion = turn.decision.action, turn.decision.suspicion
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": turn.role.value,
        "gen_ai.provider.name": _provider(status),
        "gen_ai.request.model": status.get("model"),
        "openinference.span.kind": "AGENT",
        "input.value": next((text for by, text in _said(prompt) if by == "user"), None),
        "output.value": json.dumps(to_wire(action)),
        "output.mime_type": "application/json",
        "error.type": getattr(action, "error", None),
        "chaosops.step": turn.events.step,
        "chaosops.policy": status.get("policy"),
        "chaosops.refused": turn.events.miscommunication,
        **{f"chaosops.suspicion.{agent}": value for agent, value in (suspicion or {}).items()},
    }


def _of_exchange(exchange: Exchange, status: Status) -> Attributes:
    said = _said(exchange.prompt)
    system = [_part(text) for by, text in said if by == "system"]
    others = [_message(by, text) for by, text in said if by != "system"]
    reply = {**_message("assistant", exchange.reply), "finish_reason": "stop"}
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _provider(status),
        "gen_ai.request.model": _model(status),
        "gen_ai.request.temperature": status.get("temperature"),
        "gen_ai.usage.input_tokens": exchange.tokens_read,
        "gen_ai.usage.output_tokens": exchange.tokens_written,
        "gen_ai.system_instructions": json.dumps(system),
        "gen_ai.input.messages": json.dumps(others),
        "gen_ai.output.messages": json.dumps([reply]),
        "server.address": _server(status),
        "openinference.span.kind": "LLM",
        "output.value": exchange.reply,
        "chaosops.attempts": exchange.attempts,
    }


def _labels(episode: Episode, manifest: Mapping[str, Any]) -> Attributes:
    told = [*closing_lines(episode), *explanation(episode)]
    return {
        "openinference.span.kind": "EVALUATOR",
        "output.value": "\n".join(told),
        "chaosops.label.cause": episode.cause,
        "chaosops.label.has_rogue": episode.rogue is not None,
        "chaosops.label.rogue": episode.rogue,
        "chaosops.label.rogue_caught": episode.rogue_caught,
        "chaosops.label.false_flags": episode.false_flags,
        "chaosops.label.wrong_fixes": episode.wrong_fixes,
        "chaosops.label.resolved": episode.resolved,
        "chaosops.label.reward": episode.reward,
        **{f"chaosops.label.{name}": value for name, value in episode.rubric_totals.items()},
        "chaosops.label.command": manifest.get("command"),
    }


def _judged(turn: Turn) -> Attributes:
    return {
        "gen_ai.evaluation.name": "reward",
        "gen_ai.evaluation.score.value": turn.score.total,
        "gen_ai.evaluation.score.label": outcome_words(turn) or None,
        "gen_ai.agent.name": turn.role.value,
        "chaosops.step": turn.events.step,
    }


def _said(prompt: Chat) -> list[tuple[str, str]]:
    return [(message.get("role", ""), message.get("content", "")) for message in prompt]


def _server(status: Status) -> str | None:
    """The host of an endpoint."""
    kind, _, url = str(status.get("backend")).partition(" ")
    try:
        return urlsplit(url).hostname if kind == "endpoint" else None
    except ValueError:
        return None


def _provider(status: Status) -> str:
    """The convention's name for servers with OpenAI's API, whoever runs them."""
    return "openai" if _server(status) else "chaosops"


def _model(status: Status) -> str:
    return str(status.get("model") or status.get("policy") or "model")


def _part(text: str) -> dict[str, str]:
    return {"type": "text", "content": printable(text)}


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [_part(text)]}


def _to_wire(trace_id: str, span: Span) -> dict[str, Any]:
    parent = span.path.rpartition("/")[0]
    return {
        "traceId": trace_id,
        "spanId": _span_id(trace_id, span.path),
        **({"parentSpanId": _span_id(trace_id, parent)} if span.path else {}),
        "name": printable(span.name),
        "kind": span.kind,
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": _attributes(span.attributes),
        **({"events": [_event(*event) for event in span.events]} if span.events else {}),
        **({"status": _FAILED} if span.failed else {}),
    }


def _event(name: str, at_ns: int, attributes: Attributes) -> dict[str, Any]:
    return {"timeUnixNano": str(at_ns), "name": name, "attributes": _attributes(attributes)}


def _attributes(values: Attributes) -> list[dict[str, Any]]:
    return [
        {"key": printable(name), "value": _value(value)}
        for name, value in values.items()
        if value is not None
    ]


def _value(value: object) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}  # 64 bits, which JSON numbers do not hold
        case float():
            return {"doubleValue": value}
    return {"stringValue": printable(str(value))}
