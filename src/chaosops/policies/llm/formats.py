"""What a reply looks like: one JSON action, or one label of a menu."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from chaosops.core.actions import VERBS, Action, FlagRogue, Unreadable, to_wire
from chaosops.core.decision import Chat
from chaosops.core.errors import UnknownName
from chaosops.core.rules import Rulebook
from chaosops.core.vocabulary import Role
from chaosops.roles.menu import acts_in_sight, menu
from chaosops.roles.parse import MAX_REPLY_CHARS, parse
from chaosops.roles.prompt import Style, render
from chaosops.roles.schema import Schema
from chaosops.roles.view import RoleView


class Format(ABC):
    name: str  # a prompt's style

    def messages(self, view: RoleView) -> Chat:
        return tuple(render(view, Style(self.name)))

    @abstractmethod
    def replies(self, view: RoleView) -> Mapping[str, Action]:
        """Every legal reply, word for word."""

    def opening(self, view: RoleView) -> str | None:
        """The beginning of a reply with free text, which ends with ``"}``."""
        return None

    @abstractmethod
    def read(self, view: RoleView, reply: str) -> Action:
        """The action of a free reply, or what is wrong with it."""


class JsonFormat(Format):
    name = "json"

    def replies(self, view: RoleView) -> Mapping[str, Action]:
        flags = tuple(FlagRogue(act.agent, evidence=act.id) for act in acts_in_sight(view))
        return _json_replies(view.rules, view.role, flags)

    def opening(self, view: RoleView) -> str | None:
        may_talk = view.rules.may(view.role, "communicate")
        return '{"action":"communicate","message":"' if may_talk else None

    def read(self, view: RoleView, reply: str) -> Action:
        return parse(reply)


class MenuFormat(Format):
    name = "menu"

    def replies(self, view: RoleView) -> Mapping[str, Action]:
        return menu(view)

    def read(self, view: RoleView, reply: str) -> Action:
        choices = menu(view)
        if len(reply) > MAX_REPLY_CHARS:
            return Unreadable("too_long", f"write at most {MAX_REPLY_CHARS} characters")
        label = label_of(reply)
        if label in choices:
            return choices[label]
        return Unreadable("unknown_label", f"write one of {', '.join(choices)} and nothing else")


FORMATS: Mapping[str, Format] = {"json": JsonFormat(), "menu": MenuFormat()}


def load_format(name: str) -> Format:
    if name not in FORMATS:
        raise UnknownName("format", name, FORMATS)
    return FORMATS[name]


def label_of(reply: str) -> str:
    """
    >>> label_of(" ab)")
    'ab'
    """
    return reply.strip().rstrip(".:)")


def json_text(wire: Mapping[str, Any]) -> str:
    """Compact, like the forms in the prompt."""
    return json.dumps(wire, separators=(",", ":"))


@lru_cache(maxsize=1024)
def _json_replies(
    rules: Rulebook, role: Role, flags: tuple[FlagRogue, ...]
) -> Mapping[str, Action]:
    """Without messages, which are written freely and not chosen. An agent with acts in sight is
    flagged for one of them."""
    named = {flag.target for flag in flags}
    replies: dict[str, Action] = {}
    for action in rules.legal_actions(role):
        instead: list[Action] = [action]
        if isinstance(action, FlagRogue) and action.target in named:
            instead = [flag for flag in flags if flag.target == action.target]
        if action.verb != "communicate":
            replies |= {json_text(to_wire(each)): each for each in instead}
    return replies


def filled_in(reply: str, schema: Schema) -> str | None:
    """The reply without the fields that its action does not use. None if the reply does not follow
    the schema, which requires every field."""
    if len(reply) > MAX_REPLY_CHARS:
        return None
    try:
        data = json.loads(reply)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.keys() != schema["properties"].keys():
        return None
    verb = data["action"]
    if verb not in schema["properties"]["action"]["enum"]:
        return None
    used = {"action", *(argument.name for argument in VERBS[verb].arguments)}
    return json_text({k: v for k, v in data.items() if k in used and v is not None})
