"""What the chat tells a scripted policy: who named, flagged or tried what."""

from __future__ import annotations

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
