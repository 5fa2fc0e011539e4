"""A reply, read strictly: an action, or an ``Unreadable`` that names its error.

Accepted is one JSON object, alone or in a code fence, in the flat form of the prompt or
with its arguments under ``args``. Nothing raises, whatever the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from chaosops.core.actions import (
    TARGETED,
    VERBS,
    Action,
    Communicate,
    FlagRogue,
    IdentifyRootCause,
    Scale,
    Unreadable,
)
from chaosops.core.vocabulary import Role

MAX_REPLY_CHARS = 8_000
MAX_MESSAGE_CHARS = 2_000
MAX_NAME_CHARS = 100
MAX_REPLICAS = 10_000
MAX_ENTRY = 1_000_000

_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*?)\n?```\Z", re.DOTALL)

_NO_FIELDS = frozenset[str]()
_TARGET = frozenset({"target"})
_FIELDS = {
    "noop": _NO_FIELDS,
    "escalate": _NO_FIELDS,
    "resolve": _NO_FIELDS,
    "communicate": frozenset({"message", "to"}),
    "scale": frozenset({"target", "replicas"}),
    "flag_rogue": frozenset({"target", "confidence", "evidence"}),
    "identify_root_cause": frozenset({"failure_type"}),
    "audit": _TARGET,
    **{kind.verb: _TARGET for kind in TARGETED},
}
_ALWAYS = frozenset({"action", "reason"})  # a reason is welcome, and is not used


class _ReadError(Exception):
    def __init__(self, error: str, detail: str) -> None:
        super().__init__(detail)
        self.error = error
        self.detail = detail


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
        return Unreadable(problem.error, problem.detail)


def parse_object(data: Mapping[str, Any]) -> Action:
    """The same for a reply that is decoded already."""
    try:
        return _read_object(data)
    except _ReadError as problem:
        return Unreadable(problem.error, problem.detail)


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
    if unknown := sorted(map(str, fields.keys() - _FIELDS[verb] - _ALWAYS)):
        allowed = ", ".join(sorted(_FIELDS[verb])) or "no other field"
        raise _ReadError("unknown_field", f"{verb} takes {allowed}, not {_short(unknown[0])}")
    return _build(verb, fields)


def _build(verb: str, fields: dict[str, Any]) -> Action:
    match verb:
        case "communicate":
            return Communicate(_text(fields, "message", MAX_MESSAGE_CHARS), _recipient(fields))
        case "scale":
            replicas = _whole(fields, "replicas", MAX_REPLICAS)
            if replicas is None:
                raise _ReadError("missing_field", "scale needs replicas")
            return Scale(_text(fields, "target"), replicas)
        case "flag_rogue":
            evidence = _whole(fields, "evidence", MAX_ENTRY)
            return FlagRogue(_text(fields, "target"), _confidence(fields), evidence)
        case "identify_root_cause":
            return IdentifyRootCause(_text(fields, "failure_type"))
    kind = VERBS[verb]
    if _FIELDS[verb] is _TARGET:
        return kind(_text(fields, "target"))  # type: ignore[call-arg]
    return kind()  # type: ignore[call-arg]


def _text(fields: dict[str, Any], name: str, limit: int = MAX_NAME_CHARS) -> str:
    if name not in fields:
        raise _ReadError("missing_field", f"{fields['action']} needs {name}")
    value = fields[name]
    if not isinstance(value, str):
        raise _ReadError("bad_value", f"{name} must be a string")
    if len(value) > limit:
        raise _ReadError("too_long", f"{name} may have {limit} characters")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise _ReadError("bad_value", f"{name} holds characters that cannot be written out")
    return value


def _recipient(fields: dict[str, Any]) -> str | None:
    to = fields.get("to")
    if to is None:
        return None
    if not isinstance(to, str) or to not in set(Role):
        raise _ReadError("unknown_role", f"to must be one of {', '.join(Role)}")
    return to


def _whole(fields: dict[str, Any], name: str, limit: int) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > limit:
        raise _ReadError("bad_value", f"{name} must be a whole number up to {limit}")
    return value


def _confidence(fields: dict[str, Any]) -> float:
    value = fields.get("confidence", 1.0)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _ReadError("bad_value", "confidence must be a number from 0 to 1")
    if not 0 <= value <= 1:  # NaN is not, and a whole number of 400 digits fits into no float
        raise _ReadError("bad_value", "confidence must be a number from 0 to 1")
    return float(value)


def _short(name: str) -> str:
    return repr(name[:40])
