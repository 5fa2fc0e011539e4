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
from chaosops.policies.chat import was_done
from chaosops.policies.scripted.arena.matching import Match, matches, places, roots
from chaosops.policies.scripted.arena.reading import Guide, Where
from chaosops.policies.scripted.arena.talk import (
    believed,
    is_tried_in_vain,
    place_to_repair,
    repairs,
    tell,
)
from chaosops.roles.view import RoleView

_TAKES_EFFECT = 3  # steps until a remedy shows
_PATIENCE = 5  # steps before a remedy is tried again
_SURE = 2.0  # the weight of a match that can be acted on
_IN_VAIN = 6.0  # what a match loses when its remedy was tried in vain
_EARLY = 3  # steps in which it pays to name the cause
_ADVICE_HOLDS = 4  # steps in which Oversight's advice is not questioned


def sre(view: RoleView) -> Action:
    """Believes Oversight, who sees the trace, until its advice was tried. When nothing is to be
    said, looks at what was repaired, for Oversight."""
    action = Noop() if _is_advised(view) else _diagnose(view)
    if isinstance(action, Inspect) and view.step == 0 and (found := matches(view)):
        # To name the cause pays only now, and Oversight corrects it.
        return IdentifyRootCause(found[0].guide.name)
    if action != Noop() and not isinstance(action, Inspect):
        return action
    _, place = believed(view)
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
    could not be read, remedies are tried one after another."""
    guide, _ = believed(view)
    place = place_to_repair(guide, view)
    options = _remedies_of(guide, place, view) if guide and place else []
    tried = {m.action: m.step for m in view.chat if m.action in options}
    if not tried:
        return options[0] if options and not _is_with_others(guide, view) else Noop()
    last = max(tried, key=lambda remedy: tried[remedy])
    since = view.step - tried[last]
    if not view.alerts or since < _TAKES_EFFECT:
        return Noop()
    if guide is not None and guide.is_certain:
        return last
    # It helped for a while, unless another page was believed when it was tried.
    if since > _PATIENCE and options[0] in tried:
        return last
    return next((remedy for remedy in options if remedy not in tried), Noop())


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


def _is_with_others(guide: Guide | None, view: RoleView) -> bool:
    """Does the page seem to say that only the Manager can help, who has not tried for long?"""
    if guide is None or guide.cure is None or guide.cure.kind is not Escalate:
        return False
    asked = [m.step for m in view.chat if isinstance(m.action, Escalate)]
    return guide.is_certain or not asked or view.step - asked[0] < _TAKES_EFFECT


def manager(view: RoleView) -> Action:
    """Never closes the incident: one that is over ends by itself."""
    guide, _ = believed(view)
    if guide is None or not view.alerts:
        return Noop()
    escalates = guide.cure is not None and guide.cure.kind is Escalate
    # To escalate in vain costs nothing.
    in_doubt = not guide.is_certain and not was_done(view, Escalate())
    return Escalate() if escalates or in_doubt else Noop()


def suspected_services(view: RoleView) -> set[str]:
    return set(roots(view))
