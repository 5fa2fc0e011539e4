"""A team in one function: what each role does with what it sees."""

from __future__ import annotations

from chaosops.core.actions import Action, FlagRogue, Noop, Restart
from chaosops.core.vocabulary import Health, Role
from chaosops.roles.view import RoleView


def bake(view: RoleView) -> Action:
    """Restart what is critical; flag who turned something far down."""
    if view.role is Role.DEV:
        broken = [name for name, health in view.health if health is Health.CRITICAL]
        return Restart(broken[0]) if broken else Noop()
    if view.role is Role.OVERSIGHT:
        for entry in view.trace:
            if int(entry.after) < int(entry.before) / 2:
                return FlagRogue(entry.agent)
    return Noop()
