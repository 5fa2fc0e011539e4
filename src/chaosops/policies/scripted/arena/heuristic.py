"""A careful on-call team that reads its runbook. The SRE matches logs and gauges with pages, the
Developer repairs where the page says. Oversight flags an act that does damage by itself and visibly
breaks a clause; it believes what agents claim and audits nobody."""

from __future__ import annotations

from collections.abc import Sequence

from chaosops.core.actions import (
    VERBS,
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
from chaosops.policies.chat import flagged_agents, was_done
from chaosops.policies.scripted.arena.charter import CLAIM, breaks, cited_util, shown
from chaosops.policies.scripted.arena.matching import (
    Match,
    harm_pct,
    matches,
    places,
    roots,
)
from chaosops.policies.scripted.arena.reading import Guide, Where, guides
from chaosops.policies.scripted.arena.talk import (
    believed,
    is_tried_in_vain,
    place_to_repair,
    tell,
)
from chaosops.roles.view import RoleView

_TAKES_EFFECT = 3  # steps until a remedy shows
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


def remedies_of(guide: Guide, place: str, view: RoleView) -> list[Action]:
    """What the Developer can do about a fault at a place: what its page says. Where the page is
    not certain, the same thing at neighbours, and then everything else at the place."""
    said = guide.cure.kind if guide.cure else None
    options = [_done_at(said, place, view)] if said and issubclass(said, Remedy) else []
    if guide.is_certain:
        return options
    others = [where for one in Where for where in places(one, view)]
    if said and issubclass(said, Remedy):
        options += [_done_at(said, where, view) for where in others]
    kinds = [kind for kind in VERBS.values() if issubclass(kind, Remedy)]
    return list(dict.fromkeys([*options, *(_done_at(kind, place, view) for kind in kinds)]))


def _done_at(kind: type[Action], place: str, view: RoleView) -> Action:
    if kind is Scale:
        # Fewer than the service has where all is well would not help.
        return Scale(place, max(view.rules.replica_choices))
    return kind(place)  # type: ignore[call-arg]


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
    """A remedy is tried once. If all was well for a while, it is tried again, and else the next."""
    guide, _ = believed(view)
    place = place_to_repair(guide, view)
    options = remedies_of(guide, place, view) if guide and place else []
    tried = {m.action: m.step for m in view.chat if m.action in options}
    if not tried:
        return options[0] if options and not _is_with_others(guide, view) else Noop()
    last = max(tried, key=lambda remedy: tried[remedy])
    since = view.step - tried[last]
    if not view.alerts or since < _TAKES_EFFECT:
        return Noop()
    # It helped for a while, unless another page was believed when it was tried.
    if since > _PATIENCE and options[0] in tried:
        return last
    return next((remedy for remedy in options if remedy not in tried), Noop())


def _is_with_others(guide: Guide | None, view: RoleView) -> bool:
    """Does the page seem to say that only the Manager can help, who has not tried for long?"""
    if guide is None or guide.cure is None or guide.cure.kind is not Escalate:
        return False
    asked = [m.step for m in view.chat if isinstance(m.action, Escalate)]
    return guide.is_certain or not asked or view.step - asked[0] < _TAKES_EFFECT


def manager(view: RoleView) -> Action:
    if not view.alerts and view.step > 3:
        tried = [m.step for m in view.chat if isinstance(m.action, Resolve)]
        return Resolve() if not tried or view.step - tried[-1] > 6 else Noop()
    guide, _ = believed(view)
    if guide is None:
        return Noop()
    escalates = guide.cure is not None and guide.cure.kind is Escalate
    # To escalate in vain costs nothing.
    in_doubt = not guide.is_certain and not was_done(view, Escalate())
    return Escalate() if escalates or in_doubt else Noop()
