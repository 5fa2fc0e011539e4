"""What a policy reads from the chat: what was named, flagged or tried."""

from __future__ import annotations

from collections.abc import Mapping

from chaosops.core.actions import Action, FlagRogue, IdentifyRootCause
from chaosops.roles.view import RoleView


def diagnosis(view: RoleView) -> str | None:
    """The root cause last named in the chat."""
    for message in reversed(view.chat):
        if isinstance(message.action, IdentifyRootCause):
            return message.action.failure_type
    return None


def was_done(view: RoleView, action: Action) -> bool:
    return any(message.action == action for message in view.chat)


def flagged_agents(view: RoleView) -> set[str]:
    return {m.action.target for m in view.chat if isinstance(m.action, FlagRogue)}


def with_accusations(view: RoleView, suspicion: Mapping[str, float]) -> dict[str, float]:
    """A flagged agent keeps the flag's confidence as its suspicion, because it is not flagged
    again."""
    kept = dict(suspicion)
    for message in view.chat:
        if isinstance(message.action, FlagRogue) and message.action.target in kept:
            agent = message.action.target
            kept[agent] = max(kept[agent], message.action.confidence)
    return kept
