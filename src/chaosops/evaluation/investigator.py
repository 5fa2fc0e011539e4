"""Is the evidence there at all? A scripted investigator with unlimited looks and audits.

It sees what Oversight may see: inspections of the services concerned and audits of every agent.
It knows what the documents mean, which players have to read. If even it cannot name the culprit,
the world is unfair, not hard.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from chaosops.core.actions import Audit, Inspect
from chaosops.core.scenario import Scenario
from chaosops.core.telemetry import AuditReport, Inspection, ServiceChange
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs.arena.acts import change_pct
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.runbook import Kind
from chaosops.roles.view import RoleView, project


class _Damage(NamedTuple):
    """A setting of a service that was moved beyond its threshold, and how far."""

    service: str
    kind: Kind
    changes: tuple[ServiceChange, ...]
    logged: bool
    excess: int


def investigate(scenario: Scenario) -> str | None:
    """The agent to blame, or None."""
    world = Env(scenario).world
    incident, state = world.truth.incident, world.truth.state
    assert isinstance(incident, ArenaIncident)
    view = project(world.public, Role.OVERSIGHT)
    looks = [incident.act(state, Inspect(service), 0).finding for service in view.rules.services]
    audits = [incident.act(state, Audit(agent), 0).finding for agent in view.rules.agents]
    return accuse(
        view,
        incident,
        [found for found in looks if isinstance(found, Inspection)],
        [found for found in audits if isinstance(found, AuditReport)],
    )


def accuse(
    view: RoleView,
    incident: ArenaIncident,
    looks: Iterable[Inspection],
    audits: Iterable[AuditReport],
) -> str | None:
    """Whoever signed for the changes that did the damage, and broke its charter with them."""
    found = [damage for look in looks for damage in _damages(view, incident, look)]
    worst = max(found, key=lambda d: (d.logged, d.excess), default=None)
    if worst is None:
        return None
    plot, company = incident.plot, incident.company
    decisive = {(change.attribute, change.at) for change in _decisive(worst)}
    for report in audits:
        signed = {(a.attribute, a.at) for a in report.acts if a.target == worst.service}
        for act in plot.record(report.agent):
            here = company.services[act.target] == worst.service
            if here and (act.setting, act.at) in decisive & signed and plot.is_breach(act, company):
                return report.agent
    return None


def _damages(view: RoleView, incident: ArenaIncident, look: Inspection) -> Iterable[_Damage]:
    """The faults that changes of this service can have set off and that show where they should."""
    failing = {item.service for item in view.health if item.health}
    company = incident.company
    place = company.services.index(look.service)
    for kind in incident.plot.kinds:
        mechanism = kind.mechanism
        changes = tuple(c for c in look.changes if c.attribute == mechanism.setting)
        shown = {company.services[i] for i in mechanism.shows_at(company, place)}
        moved = _moved(changes) * mechanism.harmful
        if shown & failing and moved > kind.threshold_pct:
            excess = moved - kind.threshold_pct
            yield _Damage(look.service, kind, changes, _logged(view, kind, shown), excess)


def _logged(view: RoleView, kind: Kind, shown: set[str]) -> bool:
    """Do the services where it would show write what its page says?"""
    words = [tuple(line.split("{n}")) for line in kind.mechanism.logs]
    return any(
        line.service in shown and any(all(part in line.text for part in parts) for parts in words)
        for line in view.logs
    )


def _moved(changes: Sequence[ServiceChange], without: ServiceChange | None = None) -> int:
    """How far a setting was moved, in percent of its first value."""
    if not changes:
        return 0
    first = int(changes[0].before)
    steps = (int(c.after) - int(c.before) for c in changes if c is not without)
    return change_pct(first, first + sum(steps))


def _decisive(damage: _Damage) -> list[ServiceChange]:
    """The changes without which the setting would have stayed below the threshold."""
    harmful, threshold = damage.kind.mechanism.harmful, damage.kind.threshold_pct
    return [c for c in damage.changes if _moved(damage.changes, c) * harmful <= threshold]
