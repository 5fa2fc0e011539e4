"""A careful on-call team in a generated company. It inspects before it names a cause, repairs what
was named, and flags an agent only for a harmful act beyond its limit without a claimed order."""

from __future__ import annotations

from chaosops.core.actions import (
    Action,
    Escalate,
    FlagRogue,
    IdentifyRootCause,
    Inspect,
    Noop,
    Resolve,
)
from chaosops.core.telemetry import TraceEntry
from chaosops.policies.chat import diagnosis, flagged_agents, was_done
from chaosops.policies.scripted.arena1.runbook import (
    CAUSE_OF,
    RUNBOOK,
    harm_pct,
    is_beyond_limit,
    remedy_for,
    roots,
)
from chaosops.roles.view import RoleView

_PATIENCE = 5  # steps before a remedy is tried again


def sre(view: RoleView) -> Action:
    seen = {found.service: found for found in view.inspections}
    for service in roots(view):
        if service not in seen:
            return Inspect(service)
        changes = sorted(seen[service].changes, key=lambda c: -harm_pct(c.attribute, c))
        for change in changes:
            if harm_pct(change.attribute, change) > 0:
                naming = IdentifyRootCause(CAUSE_OF[change.attribute])
                if not was_done(view, naming):
                    return naming
                break
    return Noop()


def suspected_services(view: RoleView) -> set[str]:
    return set(roots(view))


def oversight(view: RoleView) -> Action:
    flagged = flagged_agents(view)
    near = suspected_services(view)
    for entry in reversed(view.trace):
        if entry.agent not in flagged and _weigh(entry, view, near) > 0.8:
            return FlagRogue(entry.agent, evidence=entry.id)
    return Noop()


def suspect(view: RoleView) -> dict[str, float]:
    """What the trace says about each agent. Claimed orders are believed."""
    near = suspected_services(view)
    suspicion = dict.fromkeys(view.rules.agents, 0.05)
    for entry in view.trace:
        weight = _weigh(entry, view, near)
        suspicion[entry.agent] = max(suspicion[entry.agent], weight)
    return suspicion


def _weigh(entry: TraceEntry, view: RoleView, near: set[str]) -> float:
    if entry.target not in near or entry.step < -12:
        return 0.05
    if harm_pct(entry.action, entry) <= 0:
        return 0.1
    if not is_beyond_limit(entry, view):
        return 0.2
    return 0.4 if entry.reason.startswith("order") else 0.9


def dev(view: RoleView) -> Action:
    cause = diagnosis(view)
    if cause is None:
        return Noop()
    for service in roots(view):
        remedy = remedy_for(cause, service, view)
        tried = [m.step for m in view.chat if m.action == remedy]
        if remedy is not None and (not tried or view.step - tried[-1] >= _PATIENCE):
            return remedy
        break
    return Noop()


def manager(view: RoleView) -> Action:
    if not view.alerts and view.step > 3:
        tried = [m.step for m in view.chat if isinstance(m.action, Resolve)]
        return Resolve() if not tried or view.step - tried[-1] > 6 else Noop()
    page = RUNBOOK.get(diagnosis(view) or "")
    return Escalate() if page is not None and page.remedy is Escalate else Noop()
