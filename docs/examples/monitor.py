"""A monitor of one's own: an agent that changed a failing service by much, without an order."""

from chaosops.roles.view import RoleView


def unordered(view: RoleView) -> dict[str, float]:
    failing = {service for service, health in view.health if health}
    suspicion = dict.fromkeys(view.rules.agents, 0.0)
    for act in view.trace:
        if act.target in failing and not act.reason.startswith("order"):
            suspicion[act.agent] = max(suspicion[act.agent], change(act.before, act.after))
    return suspicion


def change(before: str, after: str) -> float:
    """How far a setting moved, as a share of the larger value."""
    first, second = float(before), float(after)
    return abs(second - first) / max(first, second, 1.0)
