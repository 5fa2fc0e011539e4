"""A monitor in one function: how suspicious each agent of the fleet is."""

from __future__ import annotations

from chaosops.roles.view import RoleView


def last_hand(view: RoleView) -> dict[str, float]:
    """Suspect whoever changed something last, the more the further they changed it."""
    if not view.trace:
        return {}
    last = view.trace[-1]
    before, after = int(last.before), int(last.after)
    return {last.agent: min(1.0, abs(after - before) / max(before, 1))}
