"""The team that every script with documents plays with: SRE, Developer and Manager.

The SRE matches logs and gauges with pages, and looks at services; the Developer repairs where the
page says, and tries other remedies where it could not read the page; the Manager escalates.
"""

from __future__ import annotations

from collections.abc import Sequence

from chaosops.core.actions import (
    VERBS,
    Action,
    Escalate,
    IdentifyRootCause,
    Inspect,
    Noop,
    Remedy,
    Scale,
)
from chaosops.core.vocabulary import Role
from chaosops.policies.scripted.arena.matching import Match, matches, places, roots
from chaosops.policies.scripted.arena.reading import Guide, Where
from chaosops.policies.scripted.arena.talk import (
    all_is_well,
    believed,
    has_helped,
    is_anything_done,
    is_tried_in_vain,
    place_to_repair,
    repairs,
    tell,
)
from chaosops.roles.view import RoleView

_TAKES_EFFECT = 3  # steps until a remedy shows
_SURE = 2.0  # the weight of a match that can be acted on
_IN_VAIN = 6.0  # what a match loses when its remedy was tried in vain
_EARLY = 3  # steps in which it pays to name the cause
_ADVICE_HOLDS = 4  # steps in which Oversight's advice is not questioned


def sre(view: RoleView) -> Action:
    """Believes Oversight, who sees the trace, until its advice was tried. When nothing is to be
    said, looks at what was repaired, for Oversight."""
    guide, place = believed(view)
    report = _report(guide, view)
    if report != Noop():
        return report
    action = Noop() if _is_advised(view) else _diagnose(view)
    if isinstance(action, Inspect) and view.step == 0 and (found := matches(view)):
        # To name the cause pays only now, and Oversight corrects it.
        return IdentifyRootCause(found[0].guide.name)
    if action != Noop() and not isinstance(action, Inspect):
        return action
    repaired = [where for _, _, where in reversed(repairs(view))]
    look = _look([*([place] if place else []), *repaired], view)
    return action if look == Noop() else look


def _is_advised(view: RoleView) -> bool:
    told = [m.step for m in view.chat if m.sender == Role.OVERSIGHT and m.is_talk]
    is_over = repairs(view) and view.alerts and told and view.step > told[-1] + _ADVICE_HOLDS
    return bool(told) and not is_over


def _diagnose(view: RoleView) -> Action:
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
    known = [service for service in services if service in view.rules.services]
    return next((Inspect(service) for service in known if service not in seen), Noop())


def dev(view: RoleView) -> Action:
    """What the page says is done again whenever something fails: faults come back. Where the page
    could not be read, remedies are tried one after another, until the SRE or the Manager says that
    one helped."""
    guide, _ = believed(view)
    place = place_to_repair(guide, view)
    options = _remedies_of(guide, place, view) if guide and place else []
    tried = {m.action: m.step for m in view.chat if m.action in options}
    if not options or not guide or (tried and not view.alerts):
        return Noop()
    last = max(tried, key=lambda remedy: tried[remedy], default=Noop())
    if tried and view.step - tried[last] < _TAKES_EFFECT:
        return Noop()
    if tried and (guide.is_certain or has_helped(view)):
        return last
    if _waits_for_manager(guide, view):
        return Noop()
    return min(options, key=lambda remedy: tried.get(remedy, 0))  # untried ones first


def _remedies_of(guide: Guide, place: str, view: RoleView) -> list[Action]:
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


def _waits_for_manager(guide: Guide, view: RoleView) -> bool:
    """Does the page seem to say that only the Manager can help, and may this still help?"""
    if guide.cure is None or guide.cure.kind is not Escalate:
        return False
    asked = [m.step for m in view.chat if isinstance(m.action, Escalate)]
    return not asked or view.step - asked[0] < _TAKES_EFFECT or has_helped(view)


def manager(view: RoleView) -> Action:
    """Never closes the incident: one that is over ends by itself."""
    guide, _ = believed(view)
    if guide is None:
        return Noop()
    if not view.alerts:
        return _report(guide, view)
    escalates = guide.cure is not None and guide.cure.kind is Escalate
    # To escalate in vain costs nothing.
    return Escalate() if escalates or not guide.is_certain else Noop()


def _report(guide: Guide | None, view: RoleView) -> Action:
    """Tells the Developer that a remedy helped, where the Developer cannot know."""
    is_news = guide is not None and not guide.is_certain and not has_helped(view)
    return all_is_well() if is_news and is_anything_done(view) and not view.alerts else Noop()


def suspected_services(view: RoleView) -> set[str]:
    return set(roots(view))
