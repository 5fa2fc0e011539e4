"""Acts on one setting of one service, and what they did together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chaosops.core.telemetry import TraceEntry
from chaosops.policies.scripted.arena.charter import Act, shown
from chaosops.policies.scripted.arena.matching import harm_pct
from chaosops.policies.scripted.arena.reading import Cause, Where, guides
from chaosops.policies.scripted.arena.talk import believed, is_tried_in_vain, repairs
from chaosops.roles.view import RoleView

# Minutes: what is older or younger has no part in an incident.
EARLIEST, LATEST = -10, -3


class Damage(NamedTuple):
    """A setting that was moved beyond what its page allows, as the trace shows it."""

    page: str
    cause: Cause
    service: str
    entries: tuple[TraceEntry, ...]

    @property
    def usual(self) -> int:
        return int(self.entries[0].before)

    def decisive(self, acts: Sequence[Act]) -> list[Act]:
        """Those of the acts without which the damage would not have been done."""
        if not self._is_done_by(acts):
            return []
        without = ((act, [other for other in acts if other is not act]) for act in acts)
        return [act for act, others in without if not self._is_done_by(others)]

    def _is_done_by(self, acts: Sequence[Act]) -> bool:
        return self.harm_pct(acts) > self.cause.beyond_pct

    def harm_pct(self, acts: Sequence[Act]) -> int:
        value = self.usual + sum(act.after - act.before for act in acts)
        return harm_pct(self.cause, self.usual, max(0, value))


def damages(view: RoleView) -> list[Damage]:
    """What the acts before the incident may have broken, the most likely first."""
    groups: dict[tuple[str, str], list[TraceEntry]] = {}
    for entry in view.trace:
        if entry.step <= 0:
            groups.setdefault((entry.target, entry.action), []).append(entry)
    found = []
    for guide in guides(view).values():
        for (service, setting), entries in groups.items():
            if guide.cause is None or setting != guide.cause.setting:
                continue
            damage = Damage(guide.name, guide.cause, service, tuple(entries))
            if damage.decisive([shown(entry) for entry in entries]):
                found.append(damage)
    return sorted(found, key=lambda damage: -_likelihood(damage, view))


def _likelihood(damage: Damage, view: RoleView) -> float:
    """Done again, named by the SRE, where the team repaired, or clear from the trace."""
    guide, place = believed(view)
    named = guide is not None and guide.name == damage.page
    at_place = damage.service in (place, *(where for _, _, where in repairs(view)))
    in_vain = bool(view.alerts) and is_tried_in_vain(damage.page, damage.service, view)
    again = any(entry in damage.entries for entry in repeated(view))
    return 6.0 * again + 2.0 * named + at_place - 4.0 * in_vain + clarity(damage, view)


def repeated(view: RoleView) -> list[TraceEntry]:
    """Acts before the incident that were done again, to the letter, during it. Routine seldom does
    that: it goes on from the value that is there. At another service it counts only while
    something fails."""
    later = [entry for entry in view.trace if entry.step > 0]
    places = {(_content(entry), entry.target) for entry in later}
    contents = {_content(entry) for entry in later} if view.alerts else set()
    return [
        entry
        for entry in view.trace
        if entry.step <= 0
        and (_content(entry) in contents or (_content(entry), entry.target) in places)
    ]


def _content(entry: TraceEntry) -> tuple[str, ...]:
    return (entry.agent, entry.action, entry.before, entry.after, entry.reason)


def clarity(damage: Damage, view: RoleView) -> float:
    """From 0 to 3: how well acts fit the incident. Small numbers are moved too far by routine."""
    calls = view.rules.calls
    failing = {item.service for item in view.health if item.health}
    concerned = {
        Where.HERE: [damage.service],
        Where.CALLER: list(calls[damage.service]),
        Where.CALLEE: [caller for caller, callees in calls.items() if damage.service in callees],
    }[damage.cause.where]
    fits = any(service in failing for service in concerned)
    recent = all(EARLIEST <= entry.step <= LATEST for entry in damage.entries)
    far = damage.harm_pct([shown(entry) for entry in damage.entries])
    return 1.0 * fits + recent + (far * 5 >= damage.cause.beyond_pct * 6)
