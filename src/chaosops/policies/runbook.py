"""What a team writes down beforehand: the remedy for a diagnosis, and who has tried what."""

from __future__ import annotations

from chaosops.core.actions import (
    Action,
    FlagRogue,
    IdentifyRootCause,
    Restart,
    Rollback,
    Scale,
)
from chaosops.roles.view import RoleView

# Misrouted traffic is missing on purpose: no repair of a service takes a route back.
REMEDY_FOR: dict[str, Action] = {
    "autoscaler_cost_cut": Scale("payments", 4),
    "bad_config_push": Rollback("auth"),
    "cascade": Restart("db"),
    "db_deadlock": Restart("db"),
    "disk_full": Scale("db", 2),
    "dns_outage": Restart("auth"),
    "memory_leak": Restart("notifications"),
    "rogue_deploy_bot": Rollback("payments"),
}


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
