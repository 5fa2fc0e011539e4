"""What of a company belongs to what fails now: services, acts of the fleet, pages, clauses.

A small model cannot attend to a whole company, and people would not want to. Everything is chosen
by what the view shows; nothing is added, and no sentence of a document is interpreted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, wraps
from typing import TypeVar

from chaosops.core.actions import IdentifyRootCause, Inspect, Remedy
from chaosops.core.documents import Clauses, Page
from chaosops.core.telemetry import TraceEntry
from chaosops.roles.layout import Selection
from chaosops.roles.view import RoleView

ACTS_IN_SIGHT = 6
RECENT = -12  # minutes of the trace: what is older has no part in an incident
# What points at a service: it fails; it was repaired or looked at; the alert of a caller or of a
# callee names it.
_FAILS, _LOOKED_AT, _BY_CALLER, _BY_CALLEE = 1.0, 0.7, 0.7, 0.5
_RANK_PCT = 3  # an act on the next likeliest service has to be this much larger
_LARGE_PCT = 40  # above it all changes are equally large

T = TypeVar("T")


def once(find: Callable[[RoleView], T]) -> Callable[[RoleView], T]:
    """Keep what was found in a view: menu and prompt ask for the same."""

    @wraps(find)
    def kept(view: RoleView) -> T:
        if find not in view.kept:
            view.kept[find] = find(view)
        found: T = view.kept[find]
        return found

    return kept


@once
def deepest_first(view: RoleView) -> list[str]:
    """Failing services. Those that call no failing service come first, because failures spread
    from callees to callers."""
    failing = {item.service: item.health for item in view.health if item.health}
    calls = view.rules.calls

    def above(service: str) -> tuple[int, int]:
        return (sum(callee in failing for callee in calls[service]), -failing[service])

    return sorted(failing, key=above)


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
        share = 1 + sum(callee in failing for callee in callees)
        points[service] += _FAILS / share
        for word in texts[service].split():
            named = word.rstrip(",")
            if named in calls:
                weight = _BY_CALLER / min(share, 2) if named in callees else _BY_CALLEE
                points[named] = points.get(named, 0.0) + weight
    for i, service in enumerate(_looked_at(view), 1):
        points[service] = points.get(service, 0.0) + _LOOKED_AT / i
    return sorted(points, key=lambda service: -points[service])


def _looked_at(view: RoleView) -> Iterable[str]:
    """The services that were repaired or inspected, the latest first."""
    done = [message.action for message in view.chat]
    targets = [action.target for action in done if isinstance(action, Remedy | Inspect)]
    return dict.fromkeys(target for target in reversed(targets) if target in view.rules.calls)


@once
def in_sight(view: RoleView) -> list[TraceEntry]:
    """The acts that a flag can name: the largest changes on the services concerned. What set an
    incident off was done before it. Acts on one setting of one service stay together, because
    they add up. Those on the setting of the page that was named come first."""
    recent = [entry for entry in view.trace if RECENT <= entry.step <= 0]
    rank = {service: i for i, service in enumerate(concerned(view))}
    together: dict[tuple[str, str], list[TraceEntry]] = {}
    for entry in [entry for entry in recent if entry.target in rank] or recent:
        together.setdefault((entry.action, entry.target), []).append(entry)
    page = named_page(view)
    named = _words(page.cause) if page else frozenset()

    def unlikely(acts: Sequence[TraceEntry]) -> tuple[bool, int]:
        changes = [percent(act.before, act.after) for act in acts]
        changes.append(percent(acts[0].before, acts[-1].after))
        size = min(_LARGE_PCT, max(map(abs, changes)))
        return acts[0].action not in named, _RANK_PCT * rank.get(acts[0].target, 0) - size

    chosen: list[TraceEntry] = []
    for acts in sorted(together.values(), key=unlikely):
        if len(chosen) + len(acts) <= ACTS_IN_SIGHT:
            chosen += acts
    return sorted(chosen, key=lambda entry: (entry.action, entry.target, entry.step, entry.id))


def percent(before: str, after: str) -> int:
    """The relative change, cut towards zero.

    >>> percent("6", "2"), percent("40", "90")
    (-66, 125)
    """
    old, new = int(before), int(after)
    return int(100 * (new - old) / max(1, old))


def named_page(view: RoleView) -> Page | None:
    """The page of the cause that was named last."""
    named = [m.action for m in view.chat if isinstance(m.action, IdentifyRootCause)]
    pages = {page.name: page for page in view.rules.runbook}
    return pages.get(named[-1].failure_type) if named else None


def pages_about(view: RoleView, settings: Iterable[str]) -> list[Page]:
    return [page for page in view.rules.runbook if not _words(page.cause).isdisjoint(settings)]


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip(".,:;") for word in text.split())


def relevant(view: RoleView) -> Selection:
    """For people: the acts in sight, the page that was named, the pages about settings that were
    touched, and the clauses of the agents that acted or were audited."""
    acts = in_sight(view)
    settings = {act.action for act in acts}
    settings |= {change.attribute for look in view.inspections for change in look.changes}
    named, pages = named_page(view), pages_about(view, settings)
    first = [] if named is None else [named]
    agents = {act.agent for act in acts} | {report.agent for report in view.audits}
    clauses: list[Clauses] = [each for each in view.rules.charter if each.agent in agents]
    return Selection(acts, [*first, *(page for page in pages if page != named)], clauses)
