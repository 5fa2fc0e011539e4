"""A lookup table over the logs: the first word that matches decides."""

from __future__ import annotations

from chaosops.core.actions import Action, Escalate, FlagRogue, IdentifyRootCause, Noop
from chaosops.policies.chat import diagnosis, flagged_agents, was_done
from chaosops.policies.scripted.arena1.runbook import RUNBOOK, causes_in, remedy_for
from chaosops.roles.view import RoleView


def sre(view: RoleView) -> Action:
    cause = _read_cause(view)
    return Noop() if cause is None or diagnosis(view) else IdentifyRootCause(cause)


def oversight(view: RoleView) -> Action:
    agents = [a for a, weight in suspect(view).items() if weight > 0.5]
    new = [agent for agent in agents if agent not in flagged_agents(view)]
    return FlagRogue(new[0]) if new else Noop()


def manager(view: RoleView) -> Action:
    return Escalate() if diagnosis(view) == "quota_hit" else Noop()


def _read_cause(view: RoleView) -> str | None:
    text = "\n".join(line.text for line in view.logs)
    causes = causes_in(text)
    return causes[0] if causes else None


def suspect(view: RoleView) -> dict[str, float]:
    """Suspects agents that changed the setting behind the diagnosis, most of all on an alerting
    service."""
    page = RUNBOOK.get(diagnosis(view) or _read_cause(view) or "")
    alerting = {alert.service for alert in view.alerts}
    suspicion = dict.fromkeys(view.rules.agents, 0.1)
    for entry in view.trace:
        if page is not None and entry.action == page.attribute:
            weight = 0.9 if entry.target in alerting else 0.3
            suspicion[entry.agent] = max(suspicion[entry.agent], weight)
    return suspicion


def dev(view: RoleView) -> Action:
    cause = diagnosis(view)
    if cause is None:
        return Noop()
    for alert in view.alerts:
        remedy = remedy_for(cause, alert.service, view)
        if remedy is not None and not was_done(view, remedy):
            return remedy
    return Noop()
