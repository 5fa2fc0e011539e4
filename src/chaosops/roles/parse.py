"""Parsing a reply strictly: an action, or an ``Unreadable`` that names the error.

A reply is one JSON object, alone or in a code fence, in the flat form of the prompt or with the
arguments under ``args``. No text raises an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING
from typing import Any

from chaosops.core.actions import VERBS, Action, Unreadable
from chaosops.core.arguments import Argument

MAX_REPLY_CHARS = 8_000

_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*?)\n?```\Z", re.DOTALL)

_ALWAYS = frozenset({"action", "reason"})  # any action may give a reason; nothing reads it
_KNOWN = {verb: _ALWAYS | {a.name for a in kind.arguments} for verb, kind in VERBS.items()}
# Only the first of several mistakes is reported. Recordings hold it, so this order must not change.
_IN_ORDER = {
    verb: sorted(kind.arguments, key=lambda argument: argument.type != "integer")
    for verb, kind in VERBS.items()
}


class _ReadError(Exception):
    """Its arguments are those of an ``Unreadable``."""


def parse(reply: object) -> Action:
    """
    >>> parse('{"action": "scale", "target": "payments", "replicas": 4}')
    Scale(target='payments', replicas=4)
    >>> parse("restart db").error
    'not_json'
    """
    try:
        return _read_text(reply)
    except _ReadError as problem:
        return Unreadable(*problem.args)


def parse_object(data: Mapping[str, Any]) -> Action:
    """The same for a decoded reply."""
    try:
        return _read_object(data)
    except _ReadError as problem:
        return Unreadable(*problem.args)


def _read_text(reply: object) -> Action:
    if not isinstance(reply, str):
        raise _ReadError("not_text", "write text holding one JSON object")
    if len(reply) > MAX_REPLY_CHARS:
        raise _ReadError("too_long", f"write at most {MAX_REPLY_CHARS} characters")
    text = reply.strip()
    if not text:
        raise _ReadError("empty", "write one JSON object")
    fenced = _FENCE.match(text)
    try:
        data = json.loads(fenced.group(1) if fenced else text)
    except (ValueError, RecursionError):
        raise _ReadError("not_json", 'write one JSON object such as {"action":"noop"}') from None
    if not isinstance(data, dict):
        raise _ReadError("not_an_object", 'write one JSON object such as {"action":"noop"}')
    return _read_object(data)


def _read_object(data: Mapping[str, Any]) -> Action:
    fields = dict(data)
    args = fields.pop("args", None)
    if args is not None:
        if not isinstance(args, dict):
            raise _ReadError("bad_value", "args must be an object")
        if clash := sorted(str(name) for name in args.keys() & fields.keys()):
            raise _ReadError("repeated_field", f"{_short(clash[0])} stands twice")
        fields.update(args)
    verb = fields.get("action")
    if not isinstance(verb, str) or verb not in VERBS:
        raise _ReadError("unknown_action", f"action must be one of {', '.join(VERBS)}")
    if unknown := fields.keys() - _KNOWN[verb]:
        allowed = ", ".join(sorted(_KNOWN[verb] - _ALWAYS)) or "no other field"
        first = min(map(str, unknown))
        raise _ReadError("unknown_field", f"{verb} takes {allowed}, not {_short(first)}")
    values = {argument.name: _value(argument, verb, fields) for argument in _IN_ORDER[verb]}
    return VERBS[verb](**values)


def _value(argument: Argument, verb: str, fields: dict[str, Any]) -> Any:
    name, type_ = argument.name, argument.type
    value = fields.get(name, argument.default)
    if value is MISSING or (value is None and argument.required and type_ == "integer"):
        raise _ReadError("missing_field", f"{verb} needs {name}")
    if value is None and argument.default is None:
        return None
    if type_ == "integer":
        return _whole(argument, value)
    if type_ == "number":
        return _probability(name, value)
    if argument.values and not (isinstance(value, str) and value in argument.values):
        allowed = ", ".join(argument.values)
        raise _ReadError(f"unknown_{argument.names}", f"{name} must be one of {allowed}")
    return _text(argument, value)


def _text(argument: Argument, value: object) -> str:
    name, limit = argument.name, argument.limit
    if not isinstance(value, str):
        raise _ReadError("bad_value", f"{name} must be a string")
    if len(value) > limit:
        raise _ReadError("too_long", f"{name} may have {limit} characters")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise _ReadError("bad_value", f"{name} holds characters that cannot be written out")
    return value


def _whole(argument: Argument, value: object) -> int:
    limit = argument.limit
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > limit:
        raise _ReadError("bad_value", f"{argument.name} must be a whole number up to {limit}")
    return value


def _probability(name: str, value: object) -> float:
    # NaN is not in this range. A whole number of 400 digits fits into no float.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _ReadError("bad_value", f"{name} must be a number from 0 to 1")
    return float(value)


def _short(name: str) -> str:
    return repr(name[:40])
