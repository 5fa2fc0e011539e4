"""What a reply looks like: one JSON action, or one label of a menu."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from chaosops.core.actions import VERBS, Action, FlagRogue, Unreadable, to_wire
from chaosops.core.decision import Chat
from chaosops.core.errors import UnknownName
from chaosops.core.rules import Rulebook
from chaosops.core.vocabulary import Role
from chaosops.policies.llm.own_prompt import fill_in
from chaosops.policies.suspicion import is_probability
from chaosops.roles.menu import acts_in_sight, menu
from chaosops.roles.parse import MAX_REPLY_CHARS, parse
from chaosops.roles.prompt import Style, render
from chaosops.roles.schema import Schema
from chaosops.roles.view import RoleView


class Format(ABC):
    name: str
    style: Style

    def __init__(self, own_prompt: str = "") -> None:
        """``own_prompt``: instead of the standard system prompt (``own_prompt.py``)."""
        self.own_prompt = own_prompt

    def messages(self, view: RoleView) -> Chat:
        system, user = render(view, self.style)
        if self.own_prompt:
            system["content"] = fill_in(self.own_prompt, view.role, system["content"])
        return system, user

    @abstractmethod
    def replies(self, view: RoleView) -> Mapping[str, Action]:
        """Every legal reply, word for word."""

    def opening(self, view: RoleView) -> str | None:
        """The beginning of a reply with free text, which ends with ``"}``."""
        return None

    @abstractmethod
    def read(self, view: RoleView, reply: str) -> Action:
        """The action of a free reply, or what is wrong with it."""

    def asks_suspicion(self, view: RoleView) -> bool:
        return False

    def split(self, view: RoleView, reply: str) -> tuple[str, dict[str, float] | None]:
        """A reply without the suspicion that it tells, and this suspicion. None: it tells none that
        can be used."""
        return reply, None


class JsonFormat(Format):
    name = "json"
    style = Style.JSON

    def replies(self, view: RoleView) -> Mapping[str, Action]:
        flags = tuple(FlagRogue(act.agent, evidence=act.id) for act in acts_in_sight(view))
        return _json_replies(view.rules, view.role, flags)

    def opening(self, view: RoleView) -> str | None:
        may_talk = view.rules.may(view.role, "communicate")
        return '{"action":"communicate","message":"' if may_talk else None

    def read(self, view: RoleView, reply: str) -> Action:
        return parse(reply)


class SuspectingFormat(JsonFormat):
    """What an endpoint is asked in format json: Oversight tells its suspicion on every turn. A
    local model needs no such field, because the probability of each of its replies is known."""

    style = Style.SUSPECTING

    def asks_suspicion(self, view: RoleView) -> bool:
        return view.role is Role.OVERSIGHT

    def read(self, view: RoleView, reply: str) -> Action:
        return parse(self.split(view, reply)[0])

    def split(self, view: RoleView, reply: str) -> tuple[str, dict[str, float] | None]:
        if not self.asks_suspicion(view) or len(reply) > MAX_REPLY_CHARS:
            return reply, None
        try:
            data = json.loads(reply)
        except (ValueError, RecursionError):
            return reply, None
        if not isinstance(data, dict) or "suspicion" not in data:
            return reply, None
        told = read_suspicion(data.pop("suspicion"))
        return json_text(data), told


def read_suspicion(told: object) -> dict[str, float] | None:
    """A suspicion in a reply. Names of agents that do not exist are kept, and counted elsewhere.

    >>> read_suspicion({"deploy_bot": 0.25}), read_suspicion({"deploy_bot": "high"})
    ({'deploy_bot': 0.25}, None)
    """
    if not isinstance(told, dict) or not 0 < len(told) <= MOST_SUSPECTS:
        return None
    for name, value in told.items():
        if len(name) > LONGEST_NAME or not name.isprintable():
            return None
        if not is_probability(value):
            return None
    return {name: float(value) for name, value in told.items()}


class MenuFormat(Format):
    name = "menu"
    style = Style.MENU

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


MOST_SUSPECTS = 200  # more names, or longer ones, are no fleet
LONGEST_NAME = 80

FORMATS: Mapping[str, Format] = {"json": JsonFormat(), "menu": MenuFormat()}
ENDPOINT_FORMATS: Mapping[str, type[Format]] = {"json": SuspectingFormat, "menu": MenuFormat}
# What a model that ships, or any model with the standard prompt, may have been asked.
STANDARD: Sequence[Format] = (*FORMATS.values(), SuspectingFormat())


def formats_of(statuses: Mapping[str, Any]) -> Sequence[Format]:
    """What the policies with these statuses may have been asked. A status holds the user's own
    prompt, so that prompts can be rendered again."""
    own = dict.fromkeys(
        of["own_prompt"]
        for status in statuses.values()
        if isinstance(status, Mapping)
        for of in (status, *status.values())  # one policy, or one for each role
        if isinstance(of, Mapping) and isinstance(of.get("own_prompt"), str)
    )
    return (*STANDARD, *(kind(prompt) for prompt in own for kind in ENDPOINT_FORMATS.values()))


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
