"""The fleet agents as suspects: what the trace says an agent did, beside what it signed for.

Everything is taken from Oversight's view. No clause and no order is interpreted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from chaosops.core.actions import FlagRogue
from chaosops.core.telemetry import AuditedAct, AuditReport, TraceEntry
from chaosops.roles.sight import RECENT, in_sight, percent
from chaosops.roles.view import RoleView

NOT_AUDITED = "not_audited"
SAME = "same"
DIFFERS = "differs"
NOT_SIGNED = "not_signed"  # in the trace, and not in the signed record
NOT_SHOWN = "not_shown"  # in the signed record, and not in the trace
NO_RECORD = "no_record"  # older or younger than what an audit covers


class Change(NamedTuple):
    before: str
    after: str
    told: str
    """The reason in the trace, or the order in the signed record."""

    @property
    def pct(self) -> int:
        return percent(self.before, self.after)


class SuspectAct(NamedTuple):
    id: int  # 0 for what the trace does not show
    at: int
    setting: str
    service: str
    near: bool
    """It belongs to what fails, now or before."""
    claimed: Change | None
    signed: Change | None
    standing: str

    @property
    def largest_pct(self) -> int:
        changes = [change.pct for change in (self.claimed, self.signed) if change]
        return max(changes, key=abs)

    @property
    def excess_pct(self) -> int:
        """By how many points of percent the agent went further than the trace shows."""
        if self.signed is None:
            return 0
        return abs(self.signed.pct) - abs(self.claimed.pct if self.claimed else 0)


class Suspect(NamedTuple):
    agent: str
    clause: str
    acts: tuple[SuspectAct, ...]
    audited_at: int | None
    quarantined_at: int | None

    @property
    def largest(self) -> SuspectAct | None:
        """The largest change, of those that belong to what fails if there are any."""
        near = [act for act in self.acts if act.near] or self.acts
        return max(near, key=lambda act: abs(act.largest_pct), default=None)

    @property
    def excess_pct(self) -> int:
        return max((act.excess_pct for act in self.acts), default=0)


def by_first_sight(view: RoleView) -> list[str]:
    """The agents of a company, first who changed most of what is in sight."""
    sizes = dict.fromkeys(view.rules.agents, 0)
    for entry in in_sight(view):
        sizes[entry.agent] = max(sizes[entry.agent], abs(percent(entry.before, entry.after)))
    return sorted(sizes, key=lambda agent: -sizes[agent])


def sighted(view: RoleView) -> set[int]:
    """The numbers of the acts that belong to what fails now."""
    return {entry.id for entry in in_sight(view)}


def suspects(view: RoleView, before: Set[int] = frozenset()) -> list[Suspect]:
    """One for each agent of a company with a charter, in the order of the rules. ``before`` has
    the acts that were in sight earlier; they stay."""
    near = sighted(view) | before
    audits = {report.agent: report for report in view.audits}
    flagged: dict[str, int] = {}
    for message in view.chat:
        if isinstance(message.action, FlagRogue):
            flagged.setdefault(message.action.target, message.step)
    clauses = dict(view.rules.charter)
    return [
        Suspect(
            agent,
            clauses.get(agent, ""),
            tuple(_acts(agent, view.trace, audits.get(agent), near)),
            audits[agent].step if agent in audits else None,
            flagged.get(agent),
        )
        for agent in view.rules.agents
    ]


def _acts(
    agent: str, trace: Sequence[TraceEntry], audit: AuditReport | None, near: Set[int]
) -> list[SuspectAct]:
    entries = [entry for entry in trace if entry.agent == agent]
    signed = {} if audit is None else {_place(act): act for act in audit.acts}
    acts = [_compared(entry, signed.get(_key(entry)), audit, near) for entry in entries]
    acts += _not_shown(signed, {_key(entry) for entry in entries})
    return sorted(acts, key=lambda act: (-act.at, -act.id))


def _compared(
    entry: TraceEntry, found: AuditedAct | None, audit: AuditReport | None, near: Set[int]
) -> SuspectAct:
    claimed = Change(entry.before, entry.after, entry.reason)
    signed = None if found is None else Change(found.before, found.after, found.order)
    if audit is None:
        standing = NOT_AUDITED
    elif signed is not None:
        same = (claimed.before, claimed.after) == (signed.before, signed.after)
        standing = SAME if same else DIFFERS
    else:
        standing = NOT_SIGNED if RECENT <= entry.step <= 0 else NO_RECORD
    is_near = entry.id in near
    return SuspectAct(
        entry.id, entry.step, entry.action, entry.target, is_near, claimed, signed, standing
    )


def _not_shown(
    signed: dict[tuple[int, str, str], AuditedAct], shown: set[tuple[int, str, str]]
) -> Iterator[SuspectAct]:
    for place, act in signed.items():
        if place not in shown:
            change = Change(act.before, act.after, act.order)
            yield SuspectAct(0, act.at, act.attribute, act.target, True, None, change, NOT_SHOWN)


def _key(entry: TraceEntry) -> tuple[int, str, str]:
    return entry.step, entry.action, entry.target


def _place(act: AuditedAct) -> tuple[int, str, str]:
    return act.at, act.attribute, act.target
