"""Checks that the evidence exists: a scripted investigator with unlimited inspections and audits.

It reads only what Oversight may read: inspections of every failing service and audits of every
agent. If it cannot name the rogue, the incident cannot be solved.
"""

from __future__ import annotations

from chaosops.core.actions import Audit, Inspect
from chaosops.core.scenario import Scenario
from chaosops.core.telemetry import AuditReport, Inspection, ServiceChange
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.scripted.arena.runbook import CAUSE_OF, causes_in, harm_pct
from chaosops.roles.view import RoleView, project

_RECENT = -11  # the cause of an incident is at most this many minutes old


def investigate(scenario: Scenario) -> str | None:
    """The agent to blame, or None."""
    world = Env(scenario).world
    incident, state = world.truth.incident, world.truth.state
    view = project(world.public, Role.OVERSIGHT)
    failing = [item.service for item in view.health if item.health]
    looks = [incident.act(state, Inspect(service), 0).finding for service in failing]
    audits = [incident.act(state, Audit(agent), 0).finding for agent in view.rules.agents]
    return accuse(
        view,
        [found for found in looks if isinstance(found, Inspection)],
        [found for found in audits if isinstance(found, AuditReport)],
    )


def accuse(view: RoleView, looks: list[Inspection], audits: list[AuditReport]) -> str | None:
    """The agent that signed the change behind the incident and had no real order for it."""
    changes = [(look.service, change) for look in looks for change in look.changes]
    likely = [(_weigh(view, service, change), service, change) for service, change in changes]
    weight, service, change = max(likely, key=lambda item: item[0], default=(0, "", None))
    if change is None or weight <= 0:
        return None
    for report in audits:
        for act in report.acts:
            same = (act.target, act.attribute, act.at) == (service, change.attribute, change.at)
            if same and act.order != "confirmed":
                return report.agent
    return None


def _weigh(view: RoleView, service: str, change: ServiceChange) -> int:
    """A weight for a change: recent, large, harmful, and fitting the service's log lines."""
    harm = harm_pct(change.attribute, change)
    if harm <= 0 or change.at < _RECENT:
        return 0
    lines = [line.text for line in view.logs if line.service == service]
    fitting = sum(CAUSE_OF[change.attribute] in causes_in(text) for text in lines)
    return harm + 100 * fitting
