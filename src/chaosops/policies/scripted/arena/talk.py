"""What the team of scripts says and reads in the chat: causes, places and repairs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chaosops.core.actions import Action, Communicate, Escalate, IdentifyRootCause, Remedy
from chaosops.core.telemetry import Message
from chaosops.policies.scripted.arena.matching import places, roots
from chaosops.policies.scripted.arena.reading import Guide, guides
from chaosops.roles.view import RoleView

_TOLD = re.compile(r"(\S+) at (\S+)")
_ALL_IS_WELL = "all is well"


def tell(cause: str, place: str) -> Action:
    """A message that the Developer can read."""
    return Communicate(f"{cause} at {place}")


def all_is_well() -> Action:
    return Communicate(_ALL_IS_WELL)


def has_helped(view: RoleView) -> bool:
    """Did somebody say that all is well, since the last remedy?"""
    said = [m.step for m in view.chat if m.action == all_is_well()]
    done = [m.step for m in view.chat if isinstance(m.action, Remedy)]
    return bool(said) and (not done or said[-1] > done[-1])


def is_anything_done(view: RoleView) -> bool:
    return any(isinstance(message.action, Remedy | Escalate) for message in view.chat)


def believed(view: RoleView) -> tuple[Guide | None, str | None]:
    """The page that was named last, and the place if somebody told it."""
    known = guides(view)
    for message in reversed(view.chat):
        page, place = _named_in(message, tuple(known))
        if page is not None:
            return known[page], place
    return None, None


def _named_in(message: Message, causes: Sequence[str]) -> tuple[str | None, str | None]:
    """The page that a message names, and the place."""
    action = message.action
    told = _TOLD.fullmatch(action.message) if isinstance(action, Communicate) else None
    page, place = told.groups() if told else (None, None)
    if isinstance(action, IdentifyRootCause):
        page = action.failure_type
    return (page, place) if page in causes else (None, None)


def place_to_repair(guide: Guide | None, view: RoleView) -> str | None:
    """Where the Developer would repair a fault: at the place that was told with it, or where its
    page says."""
    told_guide, told = believed(view)
    if guide is None:
        return None
    if guide == told_guide and told in view.rules.calls:
        return told
    found = places(guide.cause.where, view) if guide.cause else []
    if not found and not guide.is_certain:
        found = roots(view)
    return next(iter(found), None)


def is_tried_in_vain(page: str, place: str, view: RoleView) -> bool:
    """Was a remedy tried at a place for this page, and nothing came of it? Later, as long as the
    page is believed, the same fault may have come back."""
    tried = [step for step, *what in repairs(view) if what == [page, place]]
    guide, _ = believed(view)
    is_believed = guide is not None and guide.name == page
    since = view.step - tried[-1] if tried else 0
    return since >= 2 and (not is_believed or since < 4)


def repairs(view: RoleView) -> list[tuple[int, str, str]]:
    """What the Developer did: (step, page that was believed then, place)."""
    found, page = [], ""
    for message in view.chat:
        if isinstance(message.action, Remedy):
            found.append((message.step, page, message.action.target))
        page = _named_in(message, view.rules.causes)[0] or page
    return found
