"""The results of ``inspect`` and ``audit``: facts that a rogue cannot change."""

from __future__ import annotations

from chaosops.core.telemetry import AuditedAct, AuditReport, Inspection, ServiceChange
from chaosops.packs.arena1.company import Company
from chaosops.packs.arena1.plot import Plot

_CHANGES = 5
_HISTORY_MINUTES = (-10, -8, -6, -4, -2)


def inspection(company: Company, plot: Plot, service: str, step: int) -> Inspection:
    """The last changes to a service, and how busy it was in the minutes that agents cite in
    their reasons. It does not show who made a change."""
    place = company.services.index(service)
    changes = {
        ServiceChange(act.attribute, str(act.before), str(act.after), act.at)
        for act in plot.acts
        if act.target == place and act.signed
    }
    if place == plot.target:
        attribute, before, after, at = plot.change
        # One change, even if it was made in several acts.
        changes = {c for c in changes if (c.attribute, c.at) != (attribute, at)}
        changes.add(ServiceChange(attribute, str(before), str(after), at))
    latest = sorted(changes, key=lambda change: (change.at, change))[-_CHANGES:]
    busy = tuple(
        (minute, round(100 * company.usual_utilisation(place, minute)))
        for minute in _HISTORY_MINUTES
    )
    return Inspection(step, service, tuple(latest), busy)


def audit(company: Company, plot: Plot, agent: str, step: int) -> AuditReport:
    """The agent's signed record: what it really did, and whether its orders exist."""
    limit = plot.limits_pct[plot.fleet.index(agent)]
    acts = [
        AuditedAct(
            act.at,
            act.attribute,
            company.services[act.target],
            str(act.before),
            str(act.after),
            act.order,
        )
        for act in plot.acts
        if act.signed and act.agent == agent
    ]
    return AuditReport(step, agent, limit, tuple(acts))
