"""What of a company belongs to what fails now: services, acts of the fleet, pages, clauses.

A small model cannot attend to a whole company, and people would not want to. Everything is chosen
by what the view shows; nothing is added, and no sentence of a document is interpreted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, wraps
from typing import NamedTuple, TypeVar

from chaosops.core.actions import IdentifyRootCause, Inspect, Remedy
from chaosops.core.documents import Clauses, Page
from chaosops.core.telemetry import TraceEntry
from chaosops.roles.layout import Selection
from chaosops.roles.view import RoleView

ACTS_IN_SIGHT = 7
_ENOUGH = 6  # acts; what belongs to the last of them may come along
RECENT = -12  # minutes of the trace: what is older has no part in an incident
# What points at a service: it fails; it was repaired or looked at; the alert of a caller or of a
# callee names it.
_FAILS, _LOOKED_AT, _BY_CALLER, _BY_CALLEE = 1.0, 0.7, 0.7, 0.5
_RANK_PCT = 3  # an act on the next likeliest service has to be this much larger
_ELSEWHERE = 8  # the rank of services that nothing points at
_NAMED_PCT = 20  # and an act on the setting of the page that was named, so much smaller
_LARGE_PCT = 40  # above it all changes are equally large

_NAME_A_SERVICE = (Remedy, Inspect)

T = TypeVar("T")


def once(find: Callable[[RoleView], T]) -> Callable[[RoleView], T]:
    """Keep what was found in a view: menu and prompt ask for the same."""

    @wraps(find)
    def kept(view: RoleView) -> T:
        found: T
        try:
            found = view.kept[find]
        except KeyError:
            found = view.kept[find] = find(view)
        return found

    return kept


@once
def deepest_first(view: RoleView) -> list[str]:
    """Failing services. Those that call no failing service come first, because failures spread
    from callees to callers."""
    failing = {service: health for service, health in view.health if health}
    calls, fails = view.rules.calls, failing.__contains__

    def above(service: str) -> tuple[int, int]:
        return sum(map(fails, calls[service])), -failing[service]

    return sorted(failing, key=above)


@once
def failing_since(view: RoleView) -> int | None:
    """Since when some service has been failing all the time."""
    return min((alert.step for alert in view.alerts), default=None)


def failing_near(view: RoleView, service: str) -> int | None:
    """Since when a service has been failing, or where it is well, its callers and callees: damage
    may show there. Or since when anything has. A repair of the service before that has helped, and
    the fault came back; services further away may still be recovering meanwhile."""
    since = {alert.service: alert.step for alert in view.alerts}
    calls = view.rules.calls
    near = {*calls.get(service, ()), *(name for name in calls if service in calls[name])}
    for places in ({service}, near):
        if found := [since[place] for place in places if place in since]:
            return min(found)
    return failing_since(view)


@once
def concerned(view: RoleView) -> list[str]:
    """The services where a fault may be, the likeliest first.

    A failing service points at itself, less so if what it calls fails too, and at the neighbours
    that its alert names. Damage may show at the callers or at the callees of a fault; then several
    services name the same neighbour. What was repaired or looked at stays in sight, because its
    neighbours may take longer to recover.
    """
    calls, order = view.rules.calls, deepest_first(view)
    failing = frozenset(order)
    points = dict.fromkeys(order, 0.0)
    texts = {alert.service: alert.text for alert in view.alerts}
    for service in order:
        callees = calls[service]
        share = 1 + len(failing.intersection(callees))
        points[service] += _FAILS / share
        for part in texts[service].split(", "):
            named = part.rpartition(" ")[2]
            if named in calls:
                weight = _BY_CALLER / min(share, 2) if named in callees else _BY_CALLEE
                points[named] = points.get(named, 0.0) + weight
    for i, service in enumerate(_looked_at(view), 1):
        points[service] = points.get(service, 0.0) + _LOOKED_AT / i
    return sorted(points, key=lambda service: -points[service])


def _looked_at(view: RoleView) -> Iterable[str]:
    """The services that were repaired or inspected, the latest first."""
    targets = [m.action.target for m in view.chat if isinstance(m.action, _NAME_A_SERVICE)]
    return dict.fromkeys([target for target in reversed(targets) if target in view.rules.calls])


class Group(NamedTuple):
    """What was done to one setting of one service lately. The acts stay together, because they
    add up."""

    setting: str
    service: str
    size_pct: int
    acts: tuple[TraceEntry, ...]


def in_sight(view: RoleView) -> list[TraceEntry]:
    """The acts that a flag can name."""
    return [act for group in groups_in_sight(view) for act in group.acts]


@once
def groups_in_sight(view: RoleView) -> list[Group]:
    """The largest changes on the services concerned, above all those on the setting of the page
    that was named. What set an incident off was done before it. Where nothing fails any more, it
    may have been anywhere."""
    rank = {service: i for i, service in enumerate(concerned(view))}
    groups = _groups(view)
    if deepest_first(view):
        groups = [group for group in groups if group.service in rank] or groups
    page = named_page(view)
    named = _words(page.cause) if page else frozenset()

    def unlikely(group: Group) -> int:
        points = _RANK_PCT * rank.get(group.service, _ELSEWHERE) - group.size_pct
        return points - _NAMED_PCT if group.setting in named else points

    chosen, acts = [], 0
    for group in sorted(groups, key=unlikely):
        if acts < _ENOUGH and acts + len(group.acts) <= ACTS_IN_SIGHT:
            chosen.append(group)
            acts += len(group.acts)
    return sorted(chosen)


def _groups(view: RoleView) -> list[Group]:
    """What was done lately. It is the same in the whole episode, and kept with its rules."""
    history = view.history
    known: tuple[object, list[Group]] | None = view.rules.kept.get(_groups)
    if known is None or known[0] is not history:
        together: dict[tuple[str, str], list[TraceEntry]] = {}
        for entry in history:
            if entry.step >= RECENT:
                together.setdefault((entry.action, entry.target), []).append(entry)
        groups = [Group(*key, _size_pct(acts), tuple(acts)) for key, acts in together.items()]
        known = view.rules.kept[_groups] = history, groups
    return known[1]


def _size_pct(acts: Sequence[TraceEntry]) -> int:
    """The largest act, or all together."""
    changes = [(act.before, act.after) for act in acts]
    if len(acts) > 1:
        changes.append((acts[0].before, acts[-1].after))
    return min(_LARGE_PCT, max([abs(percent(*change)) for change in changes]))


def percent(before: str, after: str) -> int:
    """The relative change, cut towards zero.

    >>> percent("6", "2"), percent("40", "90")
    (-66, 125)
    """
    old, new = int(before), int(after)
    return int(100 * (new - old) / max(1, old))


def named_page(view: RoleView) -> Page | None:
    """The page of the cause that was named last."""
    for message in reversed(view.chat):
        if isinstance(message.action, IdentifyRootCause):
            name = message.action.failure_type
            return next((page for page in view.rules.runbook if page.name == name), None)
    return None


def pages_about(view: RoleView, setting: str) -> list[Page]:
    """The pages that mention a setting."""
    known: dict[str, list[Page]] = view.rules.kept.setdefault(pages_about, {})
    if setting not in known:
        known[setting] = [page for page in view.rules.runbook if setting in _words(page.cause)]
    return known[setting]


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip(".,:;") for word in text.split())


def relevant(view: RoleView) -> Selection:
    """For people: the acts in sight, the page that was named, the pages about settings that were
    touched, and the clauses of the agents that acted or were audited."""
    acts = in_sight(view)
    settings = {act.action for act in acts}
    settings |= {change.attribute for look in view.inspections for change in look.changes}
    about = {page for setting in settings for page in pages_about(view, setting)}
    named, pages = named_page(view), [page for page in view.rules.runbook if page in about]
    first = [] if named is None else [named]
    agents = {act.agent for act in acts} | {report.agent for report in view.audits}
    clauses: list[Clauses] = [each for each in view.rules.charter if each.agent in agents]
    return Selection(acts, [*first, *(page for page in pages if page != named)], clauses)
