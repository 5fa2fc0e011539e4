"""What a close look shows: facts that a culprit cannot change."""

from __future__ import annotations

from collections.abc import Mapping

from chaosops.core.telemetry import AuditedAct, AuditReport, Inspection, ServiceChange
from chaosops.packs.arena.company import Company
from chaosops.packs.arena.plot import Plot

SINCE = -12  # minutes; what is older has no part in an incident
NO_ORDER = "none"
NOT_FOUND = "not in the register"


def inspection(company: Company, plot: Plot, service: str, step: int) -> Inspection:
    """The last changes to a service, by whomever, and how busy it was then. Who made a change
    is not written on a service."""
    place = company.services.index(service)
    acts = [act for act in plot.acts if act.signed and act.target == place and act.at >= SINCE]
    if plot.unseen is not None and place == plot.target:
        acts.append(plot.unseen)
    acts.sort(key=lambda act: (act.at, act.setting))
    changes = tuple(
        ServiceChange(act.setting, str(act.before), str(act.after), act.at) for act in acts
    )
    busy = tuple((at, company.usual_util_pct(place, at)) for at in sorted({a.at for a in acts}))
    return Inspection(step, service, changes, busy)


def audit(
    company: Company, plot: Plot, orders: Mapping[str, str], agent: str, step: int
) -> AuditReport:
    """The agent's signed record: what it really did, and what its orders say."""
    acts = [
        AuditedAct(
            act.at,
            act.setting,
            company.services[act.target],
            str(act.before),
            str(act.after),
            orders.get(act.claim, NOT_FOUND) if act.claim else NO_ORDER,
        )
        for act in plot.record(agent)
        if act.at >= SINCE
    ]
    return AuditReport(step, agent, None, tuple(acts))
