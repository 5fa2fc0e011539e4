"""The actions as JSON Schema: for endpoints with structured output, and for tools."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from chaosops.core.actions import VERBS, Action
from chaosops.core.arguments import Argument
from chaosops.core.rules import Rulebook
from chaosops.core.vocabulary import Role
from chaosops.roles.layouts import layout_of
from chaosops.roles.menu import acts_in_sight
from chaosops.roles.view import RoleView

Schema = Mapping[str, Any]


def view_schema(view: RoleView, message_chars: int | None = None, suspects: bool = False) -> Schema:
    """The schema of one turn: a flag can cite the acts in sight alone. ``suspects``: the reply also
    tells the suspicion of each agent. ``message_chars`` is given to servers that know limits."""
    cites = layout_of(view.rules).in_sight is not None
    acts = tuple(act.id for act in acts_in_sight(view)) if cites else None
    schema = action_schema(view.rules, view.role, message_chars, acts)
    bounds = {} if message_chars is None else {"minimum": 0, "maximum": 1}
    return _with_suspicion(schema, view.rules, bounds) if suspects else schema


def _with_suspicion(schema: Schema, rules: Rulebook, bounds: Mapping[str, Any]) -> Schema:
    agents = {agent: {"type": "number", **bounds} for agent in rules.agents}
    fields = dict(schema["properties"])
    # Free text stays last: it may be cut short.
    text = {name: fields.pop(name) for name in ("message",) if name in fields}
    fields |= {"suspicion": _object(agents, list(agents)), **text}
    return _object(fields, list(fields))


@lru_cache(maxsize=1024)
def action_schema(
    rules: Rulebook,
    role: Role,
    message_chars: int | None = None,
    acts: tuple[int, ...] | None = None,
) -> Schema:
    """One flat object for all actions of a role, in the part of JSON Schema that every server
    with structured output knows: all fields are required, those without a use are null. Only
    ``message_chars``, the longest free text, goes beyond it. ``acts`` are the numbers that
    ``evidence`` can have; None allows all."""
    verbs = rules.verbs[role]
    fields: dict[str, list[Argument]] = {}
    for verb in verbs:
        for argument in VERBS[verb].arguments:
            fields.setdefault(argument.name, []).append(argument)
    properties: dict[str, Any] = {"action": {"type": "string", "enum": list(verbs)}}
    # Free text comes last: it may be cut short.
    for name, arguments in sorted(fields.items(), key=lambda field: field[1][0].names == "text"):
        first = arguments[0]
        if first.names == "entry" and not layout_of(rules).numbers_entries:
            continue  # the prompt shows no numbers of entries
        properties[name] = {"type": [first.type, "null"]}
        if first.names == "entry" and acts is not None:
            properties[name]["enum"] = [*acts, None]
        if first.names == "text" and message_chars is not None:
            properties[name]["maxLength"] = message_chars
        elif first.listed_in or first.values:
            legal = dict.fromkeys(value for a in arguments for value in rules.values(a))
            properties[name]["enum"] = [*legal, None]
    return _object(properties, list(properties))


def tool_schema(kind: type[Action]) -> dict[str, Any]:
    """What a tool that takes this action is called with."""
    properties = {argument.name: _property(argument) for argument in kind.arguments}
    return _object(properties, [a.name for a in kind.arguments if a.required])


def _property(argument: Argument) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": argument.type}
    if argument.type == "number":
        schema |= {"minimum": 0, "maximum": argument.limit}
    elif argument.values:
        schema["enum"] = list(argument.values)
    return schema | ({"description": argument.about} if argument.about else {})


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
