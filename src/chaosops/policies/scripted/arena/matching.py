"""Which page of the runbook fits what is seen, and at which service its fault is."""

from __future__ import annotations

import re
from typing import NamedTuple

from chaosops.core.telemetry import ServiceReading
from chaosops.policies.scripted.arena.reading import Cause, Guide, Where, guides
from chaosops.roles.sight import deepest_first, percent
from chaosops.roles.view import RoleView

_NEIGHBOURS = {
    Where.CALLER: re.compile(r"most on calls from ([^\s,]+)"),
    Where.CALLEE: re.compile(r"slowest call to ([^\s,]+)"),
}
_LINE, _CHANGE, _NO_CHANGE = 2.0, 4.0, -1.5  # what a piece of evidence weighs
_FULL_CPU_PCT, _FULL_MEMORY_MB, _FULL_DISK_PCT, _ERRORS_PCT = 90, 900, 61, 3.0


class Match(NamedTuple):
    """A page that may be at work: where it shows, and where its fault would be."""

    guide: Guide
    shows_at: str
    place: str
    weight: float


def roots(view: RoleView) -> list[str]:
    """Failing services that call no failing service, worst first."""
    failing = deepest_first(view)
    return [s for s in failing if not any(c in failing for c in view.rules.calls[s])]


def place_of(where: Where, service: str, view: RoleView) -> str | None:
    """The place that a page names, seen from a failing service. Its alert says which caller or
    callee is concerned."""
    if where is Where.HERE:
        return service
    for alert in view.alerts:
        found = _NEIGHBOURS[where].search(alert.text) if alert.service == service else None
        if found and found[1] in view.rules.calls:
            return found[1]
    return None


def places(where: Where, view: RoleView) -> list[str]:
    """Where a fault may be, the most likely place first. A neighbour is likely if all services
    that would suffer from it fail and name it."""
    if where is Where.HERE:
        return roots(view)
    failing = deepest_first(view)
    named = {service: place_of(where, service, view) for service in failing}
    likely: dict[str, float] = {}
    for place in named.values():
        if place is not None:
            likely[place] = _share_suffering(where, place, named, view)
    return sorted(likely, key=lambda place: -likely[place])


def _share_suffering(
    where: Where, place: str, named: dict[str, str | None], view: RoleView
) -> float:
    calls = view.rules.calls
    if where is Where.CALLER:
        would: list[str] = list(calls[place])
    else:
        would = [service for service, callees in calls.items() if place in callees]
    return sum(named.get(service) == place for service in would) / max(1, len(would))


def matches(view: RoleView) -> list[Match]:
    """Pages with their places, the best match first; the SRE and Oversight see what it takes."""
    order = deepest_first(view)
    readings = {reading.service: reading for reading in view.metrics}
    deep = roots(view)
    found = []
    for guide in guides(view).values():
        if guide.signs is None:
            continue
        where = guide.cause.where if guide.cause else Where.HERE
        for service in order:
            place = place_of(where, service, view)
            if place is None:
                continue
            weight = _LINE * _lines_at(guide, service, view)
            weight += _gauge_weight(guide.signs.gauge, readings[service])
            weight += _changes_weight(guide.cause, place, view) + 0.5 * (service in deep)
            found.append(Match(guide, service, place, weight))
    return sorted(found, key=lambda match: -match.weight)


def _lines_at(guide: Guide, service: str, view: RoleView) -> int:
    lines = [x.text for x in view.logs if x.service == service]
    return sum(guide.signs.has(text) for text in lines) if guide.signs else 0


def _gauge_weight(gauge: str, reading: ServiceReading) -> float:
    if not gauge:
        return 0.0
    full = reading.cpu_pct >= _FULL_CPU_PCT
    stock = {
        "memory fills": reading.memory_mb > _FULL_MEMORY_MB,
        "disk fills": reading.disk_pct > _FULL_DISK_PCT,
    }
    if gauge in stock:
        return 2.0 if stock[gauge] else -3.0
    if any(stock.values()):
        return -2.0
    shown = {
        "cpu full": full,
        "too much load": full,
        "errors rise": reading.error_pct > _ERRORS_PCT and not full,
        "latency climbs": reading.error_pct <= _ERRORS_PCT and not full,
    }
    return 1.0 if shown.get(gauge, False) else -1.0


def harm_pct(cause: Cause, before: int | str, after: int | str) -> int:
    """How far a value was moved in its harmful direction. Below 0: in the other one."""
    return percent(str(before), str(after)) * cause.harmful


def _changes_weight(cause: Cause | None, place: str, view: RoleView) -> float:
    """What an inspection of the place says about the setting."""
    looks = [found for found in view.inspections if found.service == place]
    if not looks or cause is None:
        return 0.0
    changes = [change for change in looks[-1].changes if change.attribute == cause.setting]
    if not changes:
        return _NO_CHANGE
    beyond = harm_pct(cause, changes[0].before, changes[-1].after) > cause.beyond_pct
    return _CHANGE if beyond else _NO_CHANGE
