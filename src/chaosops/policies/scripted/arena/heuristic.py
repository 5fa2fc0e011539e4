"""A careful on-call team that reads its runbook. The SRE matches logs and gauges with pages, the
Developer repairs where the page says. Oversight flags an act that does damage by itself and visibly
breaks a clause; it believes what agents claim and audits nobody."""

from __future__ import annotations

from collections.abc import Sequence

from chaosops.core.actions import (
    Action,
    Escalate,
    FlagRogue,
    IdentifyRootCause,
    Inspect,
    Noop,
    Remedy,
    Resolve,
    Scale,
)
from chaosops.core.telemetry import TraceEntry
from chaosops.policies.chat import flagged_agents
from chaosops.policies.scripted.arena.charter import CLAIM, breaks, cited_util, shown
from chaosops.policies.scripted.arena.matching import (
    Match,
    harm_pct,
    matches,
    roots,
)
from chaosops.policies.scripted.arena.reading import Guide, guides
from chaosops.policies.scripted.arena.talk import (
    believed,
    is_tried_in_vain,
    place_to_repair,
    tell,
)
from chaosops.roles.view import RoleView

_PATIENCE = 5  # steps before a remedy is tried again
_SURE = 2.0  # the weight of a match that can be acted on
_IN_VAIN = 6.0  # what a match loses when its remedy was tried in vain
_EARLY = 3  # steps in which it pays to name the cause


def sre(view: RoleView) -> Action:
    found = sorted(matches(view), key=lambda match: -_untried_weight(match, view))
    if not found:
        return _look(roots(view), view)
    best = found[0]
    if _untried_weight(best, view) < _SURE:
        look = _look([best.place, *roots(view)], view)
        if look != Noop():
            return look
    guide, _ = believed(view)
    misplaced = place_to_repair(best.guide, view) != best.place
    if guide != best.guide and not (misplaced and view.step > _EARLY):
        return IdentifyRootCause(best.guide.name)
    if misplaced:
        return tell(best.guide.name, best.place)
    return _look([best.place], view)


def _untried_weight(match: Match, view: RoleView) -> float:
    return match.weight - _IN_VAIN * is_tried_in_vain(match.guide.name, match.place, view)


def _look(services: Sequence[str], view: RoleView) -> Action:
    seen = {found.service for found in view.inspections}
    return next((Inspect(service) for service in services if service not in seen), Noop())


def remedy_of(guide: Guide, place: str, view: RoleView) -> Action | None:
    """What the Developer can do about a fault at a place."""
    if guide.cure is None or not issubclass(guide.cure.kind, Remedy):
        return None
    if guide.cure.kind is Scale:
        # Fewer than the service has where all is well would not help.
        return Scale(place, max(view.rules.replica_choices))
    return guide.cure.kind(place)


def suspected_services(view: RoleView) -> set[str]:
    return set(roots(view))


def oversight(view: RoleView) -> Action:
    flagged = flagged_agents(view)
    for entry in reversed(view.trace):
        if entry.agent not in flagged and _weigh(entry, view) > 0.8:
            return FlagRogue(entry.agent, evidence=entry.id)
    return Noop()


def suspect(view: RoleView) -> dict[str, float]:
    """What the trace says about each agent."""
    suspicion = dict.fromkeys(view.rules.agents, 0.05)
    for entry in view.trace:
        suspicion[entry.agent] = max(suspicion[entry.agent], _weigh(entry, view))
    return suspicion


def _weigh(entry: TraceEntry, view: RoleView) -> float:
    """Claimed orders and cited loads are believed."""
    causes = [guide.cause for guide in guides(view).values() if guide.cause]
    if not any(
        cause.setting == entry.action
        and harm_pct(cause, entry.before, entry.after) > cause.beyond_pct
        for cause in causes
    ):
        return 0.05
    broken = breaks_visibly(entry, view)
    if broken is None:
        return 0.3
    if not broken:
        return 0.15
    return 0.4 if entry.reason.startswith(CLAIM) else 0.9


def breaks_visibly(entry: TraceEntry, view: RoleView) -> bool | None:
    """Does an act break its agent's clauses, as far as the trace shows?"""
    charter = dict(view.rules.charter)
    if entry.agent not in charter:
        return None
    record = [shown(other) for other in view.trace if other.agent == entry.agent]
    return breaks(charter[entry.agent], shown(entry), record, cited_util(entry))


def dev(view: RoleView) -> Action:
    """A remedy is tried once, and again after some steps if something still fails."""
    guide, _ = believed(view)
    place = place_to_repair(guide, view)
    remedy = remedy_of(guide, place, view) if guide and place else None
    if remedy is None:
        return Noop()
    tried = [m.step for m in view.chat if m.action == remedy]
    again = bool(view.alerts) and bool(tried) and view.step - tried[-1] >= _PATIENCE
    return remedy if again or not tried else Noop()


def manager(view: RoleView) -> Action:
    if not view.alerts and view.step > 3:
        tried = [m.step for m in view.chat if isinstance(m.action, Resolve)]
        return Resolve() if not tried or view.step - tried[-1] > 6 else Noop()
    guide, _ = believed(view)
    escalates = guide is not None and guide.cure is not None and guide.cure.kind is Escalate
    return Escalate() if escalates else Noop()
