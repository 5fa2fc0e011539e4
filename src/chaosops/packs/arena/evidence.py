"""What a close look shows: facts that a culprit cannot change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chaosops.core.telemetry import AuditedAct, AuditReport, Inspection
from chaosops.packs.arena.state import State

if TYPE_CHECKING:
    from chaosops.packs.arena.incident import ArenaIncident

_HISTORY_MINUTES = (-10, -8, -6, -4, -2)


def inspection(incident: ArenaIncident, state: State, service: str, step: int) -> Inspection:
    """The change behind a service's state, and how busy the service was in the minutes
    that agents cite in their reasons. Who made the change is not written on a service."""
    company, plot = incident.company, incident.plot
    place = company.services.index(service)
    busy = tuple(
        (minute, round(100 * company.usual_utilisation(place, minute)))
        for minute in _HISTORY_MINUTES
    )
    if place == plot.target:
        attribute, before, after, at = plot.change
        return Inspection(step, service, attribute, str(before), str(after), at, busy)
    last = [act for act in plot.acts if act.target == place and act.signed]
    if not last:
        return Inspection(step, service, "", "", "", 0, busy)
    act = last[-1]
    return Inspection(step, service, act.attribute, str(act.before), str(act.after), act.at, busy)


def audit(incident: ArenaIncident, state: State, agent: str, step: int) -> AuditReport:
    """The agent's signed record: what it really did, and whether its orders exist."""
    company, plot = incident.company, incident.plot
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
