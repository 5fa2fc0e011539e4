"""Acts on one setting of one service, and what they did together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from chaosops.core.telemetry import AuditedAct, TraceEntry
from chaosops.policies.scripted.arena.matching import harm_pct
from chaosops.policies.scripted.arena.reading import Cause, Where, guides
from chaosops.policies.scripted.arena.talk import believed, is_tried_in_vain, repairs
from chaosops.roles.sight import percent
from chaosops.roles.view import RoleView

CLAIM = "order "  # how the reason of an act begins that claims an order
# Minutes: what is older or younger has no part in an incident.
EARLIEST, LATEST = -10, -3
_UTIL = re.compile(r"util (\d+)%")


class Act(NamedTuple):
    """One act of an agent: as the trace shows it, or as the agent signed it."""

    at: int
    agent: str
    setting: str
    service: str
    before: int
    after: int

    @property
    def size_pct(self) -> int:
        return abs(percent(str(self.before), str(self.after)))


def shown(entry: TraceEntry) -> Act:
    values = int(entry.before), int(entry.after)
    return Act(entry.step, entry.agent, entry.action, entry.target, *values)


def signed(agent: str, act: AuditedAct) -> Act:
    return Act(act.at, agent, act.attribute, act.target, int(act.before), int(act.after))


def cited_util(entry: TraceEntry) -> int | None:
    """How busy the service was, as the agent says."""
    found = _UTIL.search(entry.reason)
    return int(found[1]) if found else None


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
    """Named by the SRE, where the team repaired, or clear from the trace."""
    guide, place = believed(view)
    named = guide is not None and guide.name == damage.page
    at_place = damage.service in (place, *(where for _, _, where in repairs(view)))
    in_vain = bool(view.alerts) and is_tried_in_vain(damage.page, damage.service, view)
    return 2.0 * named + at_place - 4.0 * in_vain + clarity(damage, view)


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
