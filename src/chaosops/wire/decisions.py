"""Decisions and actions as JSON, and back. Clients send this form, and recordings keep it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from chaosops.core.actions import Action, Unreadable, to_wire
from chaosops.core.chain import prompt_hash
from chaosops.core.decision import Chat, Decision, Exchange
from chaosops.core.errors import BadInput
from chaosops.policies.llm.formats import STANDARD, Format
from chaosops.roles.parse import MAX_REPLY_CHARS, parse_object
from chaosops.roles.view import RoleView

_Kind = TypeVar("_Kind")


def recorded_decision(decision: Decision) -> dict[str, Any]:
    """The form in a recording, with the whole prompt."""
    action, suspicion, exchange, chances = decision
    wire: dict[str, Any] = {"action": to_wire(action)}
    if suspicion is not None:
        wire["suspicion"] = dict(suspicion)
    if exchange is not None:
        prompt = [dict(message) for message in exchange.question]
        wire["exchange"] = {"prompt": prompt, **exchange_to_wire(exchange)}
    if chances is not None:
        wire["chances"] = dict(chances)
    return wire


def sent_decision(decision: Decision) -> dict[str, Any]:
    """What a client sends. A reply that could not be read is sent as it was written, so that the
    world answers it."""
    if not isinstance(decision.action, Unreadable):
        return to_wire(decision.action)
    reply = "" if decision.exchange is None else decision.exchange.reply
    if len(reply) > MAX_REPLY_CHARS:  # no server takes it; with the mark it stays unreadable
        reply = reply[: MAX_REPLY_CHARS - 1] + "…"
    return {"reply": reply}


def read_action(fields: Mapping[str, Any]) -> Action:
    """Read a flat JSON action. One that cannot be read is refused and does not reach the world."""
    action = parse_object(fields)
    if isinstance(action, Unreadable):
        raise BadInput(f"{action.error}: {action.detail}")
    return action


def read_decision(
    wire: object, view: RoleView, formats: Sequence[Format] = STANDARD
) -> tuple[Decision, list[str]]:
    """A recorded decision, and what is wrong with its prompt. ``formats``: what the model may have
    been asked."""
    if not isinstance(wire, dict):
        raise BadInput("expected an object")
    fields = field(wire, "action", dict)
    if fields.get("action") == Unreadable.verb:
        action: Action = Unreadable(field(fields, "error", str), field(fields, "detail", str))
    else:
        action = read_action(fields)
    suspicion = _probabilities(wire, "suspicion")
    chances = _probabilities(wire, "chances")
    if "exchange" not in wire:
        return Decision(action, suspicion, None, chances), []
    exchange, wrong = _read_exchange(field(wire, "exchange", dict), view, formats)
    return Decision(action, suspicion, exchange, chances), wrong


def rendered_prompts(view: RoleView, formats: Sequence[Format] = STANDARD) -> Iterable[Chat]:
    """What a model may have been sent for this view, in each format."""
    return (known.messages(view) for known in formats)


def field(data: object, name: str, kind: type[_Kind]) -> _Kind:
    value = data.get(name) if isinstance(data, Mapping) else None
    if type(value) is not kind:  # a bool is an int to isinstance
        raise BadInput(f"a recording needs '{name}' of type {kind.__name__}")
    return value


def exchange_to_wire(exchange: Exchange) -> dict[str, Any]:
    """Holds the hash of the prompt. The prompt itself can be rendered again."""
    wire: dict[str, Any] = {
        "reply": exchange.reply,
        "prompt_sha256": prompt_hash(exchange.question),
        "tokens_read": exchange.tokens_read,
        "tokens_written": exchange.tokens_written,
    }
    if exchange.corrections:
        wire["corrections"] = [dict(message) for message in exchange.corrections]
    if exchange.reasoning_chars:
        wire["reasoning_chars"] = exchange.reasoning_chars
    if exchange.suspicion_lost:
        wire["suspicion_lost"] = True
    return wire


def _read_exchange(
    wire: Mapping[str, Any], view: RoleView, formats: Sequence[Format]
) -> tuple[Exchange, list[str]]:
    if "attempts" in wire:  # the first format
        return Exchange(_chat(wire, "prompt"), *_said(wire), field(wire, "attempts", int)), []
    corrections = _chat(wire, "corrections") if "corrections" in wire else ()
    if len(corrections) % 2:
        raise BadInput("'corrections' must be pairs of a reply and its error")
    digest = field(wire, "prompt_sha256", str)
    kept = [_chat(wire, "prompt")] if "prompt" in wire else rendered_prompts(view, formats)
    hashes = []
    for question in kept:
        hashes.append(prompt_hash(question))
        if hashes[-1] == digest:
            break
    wrong = []
    if digest not in hashes:
        known = " or ".join(dict.fromkeys(hashes))  # most roles are asked the same in two formats
        wrong.append(f"the prompt's hash is {known}, recorded {digest}")
    attempts = 1 + len(corrections) // 2
    told = {"reasoning_chars": 0, "suspicion_lost": False, **wire}
    reasoning, lost = field(told, "reasoning_chars", int), field(told, "suspicion_lost", bool)
    return Exchange((*question, *corrections), *_said(wire), attempts, reasoning, lost), wrong


def _said(wire: object) -> tuple[str, int, int]:
    read, written = field(wire, "tokens_read", int), field(wire, "tokens_written", int)
    return field(wire, "reply", str), read, written


def _chat(wire: object, name: str) -> Chat:
    messages = field(wire, name, list)
    for message in messages:
        if not isinstance(message, dict) or not all(type(v) is str for v in message.values()):
            raise BadInput(f"'{name}' must be a list of chat messages")
    return tuple(messages)


def _probabilities(wire: Mapping[str, Any], name: str) -> dict[str, float] | None:
    """None if the decision has no such field."""
    if name not in wire:
        return None
    found = wire[name]
    if not isinstance(found, dict) or not all(type(v) in (int, float) for v in found.values()):
        raise BadInput(f"'{name}' must be an object of numbers")
    for of, value in found.items():
        if not 0 <= value <= 1:  # NaN is not either
            raise BadInput(f"{name} of {of} must be from 0 to 1, got {value}")
    return found
