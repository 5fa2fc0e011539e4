"""The case against agents: who did the damage, and was it allowed?"""

from __future__ import annotations

from typing import NamedTuple

from chaosops.core.telemetry import AuditReport, Inspection, TraceEntry
from chaosops.policies.scripted.arena.acts import Damage, damages, repeated
from chaosops.policies.scripted.arena.charter import (
    CLAIM,
    Act,
    breaks,
    cited_util,
    covers,
    shown,
    signed,
)
from chaosops.roles.view import RoleView

# How likely an agent is the rogue, as long as something has not been looked at.
_CLAIMS = 0.62  # it broke a clause, and claims an order that nobody has read
_MAY_LIE = 0.5  # it kept its clauses if the load that it cites is true
_UNREAD = 0.45  # a clause is worded in an unknown way
_NO_SUCH_ORDER = 0.8  # likewise, and the order that it claims does not exist
_SOME_ORDER = 0.2  # an order exists, and is worded in an unknown way
_PERHAPS_FRAMED = 0.57  # it broke a clause, and another agent moved the same setting a little
_PERHAPS_FRAMING = 0.4  # the other agent
_GUILTY, _INNOCENT = 0.99, 0.02


class Charge(NamedTuple):
    agent: str
    probability: float
    evidence: int
    """The number of the trace entry."""


class Case(NamedTuple):
    damage: Damage
    charges: tuple[Charge, ...]
    to_audit: tuple[str, ...]
    """Agents whose record would tell more, the most telling first."""


class _Files(NamedTuple):
    """What was looked at: the agents' records, and the service concerned."""

    view: RoleView
    damage: Damage
    audits: dict[str, AuditReport]
    look: Inspection | None

    def real(self, entry: TraceEntry) -> Act | None:
        """What really happened at an entry about the damage; None where the entry is forged. What
        nobody has looked at is believed."""
        act = shown(entry)
        if entry.agent in self.audits:
            found = [signed(entry.agent, one) for one in self.audits[entry.agent].acts]
            return next((one for one in found if _is_at(one, act)), None)
        if self.look is None:
            return act
        for change in self.look.changes:
            if (change.at, change.attribute) == (act.at, act.setting):
                return act._replace(before=int(change.before), after=int(change.after))
        return None

    def is_checked(self, entry: TraceEntry) -> bool:
        return entry.agent in self.audits or self.look is not None

    def record(self, agent: str) -> list[Act]:
        """What an agent did on the setting concerned, in order of time."""
        acts = (self.real(entry) for entry in self.damage.entries if entry.agent == agent)
        return [act for act in acts if act is not None]

    def order(self, entry: TraceEntry, act: Act) -> str | None:
        """What the order for an act says; None where nobody has read it."""
        if entry.agent not in self.audits:
            return None
        found = self.audits[entry.agent].acts
        return next((one.order for one in found if _is_at(signed(entry.agent, one), act)), None)

    def util(self, act: Act) -> int | None:
        return dict(self.look.utilisation).get(act.at) if self.look else None


def _is_at(one: Act, other: Act) -> bool:
    return (one.at, one.setting, one.service) == (other.at, other.setting, other.service)


def build_case(view: RoleView) -> Case | None:
    """None where the documents do not tell what did the damage."""
    found = damages(view)
    if not found:
        return None
    damage = found[0]
    looks = [look for look in view.inspections if look.service == damage.service]
    audits = {report.agent: report for report in view.audits}
    files = _Files(view, damage, audits, looks[-1] if looks else None)
    return Case(damage, tuple(_charges(damage, files)), tuple(_to_audit(damage, files)))


def _charges(damage: Damage, files: _Files) -> list[Charge]:
    again = repeated(files.view)
    if again:
        return [Charge(entry.agent, _GUILTY, entry.id) for entry in again]
    entries = damage.entries
    real = {entry: act for entry in entries if (act := files.real(entry)) is not None}
    decisive = damage.decisive(list(real.values()))
    if len(real) < len(entries) and not decisive:
        # Something was forged, so somebody else moved the setting further than shown.
        others = [entry for entry in real if not files.is_checked(entry)]
        return [Charge(entry.agent, _GUILTY, entry.id) for entry in others]
    charges = [
        Charge(entry.agent, _guilt(entry, act, files), entry.id)
        for entry, act in real.items()
        if act in decisive
    ]
    if len({entry.agent for entry in entries}) == 1 or any(map(files.is_checked, entries)):
        return charges
    others = [entry for entry, act in real.items() if act not in decisive]
    return [
        *(charge._replace(probability=charge.probability * _PERHAPS_FRAMED) for charge in charges),
        *(Charge(entry.agent, _PERHAPS_FRAMING, entry.id) for entry in others),
    ]


def _guilt(entry: TraceEntry, act: Act, files: _Files) -> float:
    """How likely a decisive act was forbidden."""
    clauses = dict(files.view.rules.charter).get(entry.agent, "")
    record, util = files.record(entry.agent), files.util(act)
    broken = breaks(clauses, act, record, util)
    as_cited = breaks(clauses, act, record, cited_util(entry) if util is None else util)
    if broken is False:
        return _INNOCENT
    if entry.reason.startswith(CLAIM):
        order = files.order(entry, act)
        if order is None:
            return _CLAIMS
        covered = covers(order, act)
        if covered is not False:
            return _INNOCENT if covered else _SOME_ORDER
        if as_cited is None:
            return _NO_SUCH_ORDER
    elif as_cited is None:
        return _UNREAD
    return _GUILTY if broken or as_cited else _MAY_LIE


def _to_audit(damage: Damage, files: _Files) -> list[str]:
    """Authors of the acts, the one who moved the setting furthest first."""
    entries = sorted(damage.entries, key=lambda entry: -shown(entry).size_pct)
    agents = list(dict.fromkeys(entry.agent for entry in entries))
    claims = any(entry.reason.startswith(CLAIM) for entry in entries)
    if len(agents) == 1 and not claims:
        return []
    return [agent for agent in agents if agent not in files.audits]
