"""What people read in place of the id of a failure: an id may name the rogue.

Prompts, recordings and the wire keep ids. Where a pack has no wordings, nothing changes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from chaosops.core.actions import Action, Communicate, IdentifyRootCause
from chaosops.core.episode import Episode, Turn
from chaosops.core.telemetry import Message
from chaosops.packs import load_pack
from chaosops.roles.view import RoleView

Wordings = Mapping[str, str]


def worded_action(action: Action, wordings: Wordings) -> Action:
    """
    >>> print(worded_action(IdentifyRootCause("disk_full"), {"disk_full": "a full disk"}))
    root cause: a full disk
    """
    if isinstance(action, IdentifyRootCause):
        return IdentifyRootCause(wordings.get(action.failure_type, action.failure_type))
    if isinstance(action, Communicate):
        return replace(action, message=_worded_text(action.message, wordings))
    return action


def _worded_text(text: str, wordings: Wordings) -> str:
    """Models say ids too. An id of one word is a word of the language."""
    for name, words in wordings.items():
        if "_" in name:
            text = text.replace(name, words)
    return text


def meant_action(action: Action, wordings: Wordings) -> Action:
    """The action that a person meant who read wordings. An id is understood as well."""
    if isinstance(action, IdentifyRootCause):
        ids = {words: name for name, words in wordings.items()}
        return IdentifyRootCause(ids.get(action.failure_type, action.failure_type))
    return action


def worded_chat(chat: tuple[Message, ...], wordings: Wordings) -> tuple[Message, ...]:
    if not wordings:
        return chat
    return tuple(said._replace(action=worded_action(said.action, wordings)) for said in chat)


def worded_view(view: RoleView, wordings: Wordings) -> RoleView:
    return view.with_chat(worded_chat(view.chat, wordings)) if wordings else view


def worded_turn(turn: Turn, wordings: Wordings) -> Turn:
    action = worded_action(turn.decision.action, wordings)
    return turn._replace(decision=turn.decision._replace(action=action))


def worded_episode(episode: Episode) -> Episode:
    """The episode as people read it."""
    wordings = load_pack(episode.scenario.pack).wordings
    if not wordings:
        return episode
    turns = [worded_turn(turn, wordings) for turn in episode.turns]
    return replace(episode, cause=wordings.get(episode.cause, episode.cause), turns=turns)
