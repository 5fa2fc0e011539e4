"""The case against agents: who did the damage, as far as it was looked into?

Whether the agent was allowed to is for a judge to say: the heuristic goes by what can be counted,
the auditor by the charter too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from chaosops.core.telemetry import AuditReport, Inspection, TraceEntry
from chaosops.policies.scripted.arena.acts import CLAIM, Act, Damage, damages, shown, signed
from chaosops.roles.view import RoleView

GUILTY, INNOCENT = 0.99, 0.02
NO_ORDERS = ("none", "not in the register")  # what an audit says where there is no order
# As long as nobody has looked, and two agents moved the setting.
_PERHAPS_FRAMED = 0.57  # what is left of the case against the one who seems to have done it
_PERHAPS_FRAMING = 0.4  # the other agent


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


class Files(NamedTuple):
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

    def is_forged(self) -> bool:
        """Does an entry about the damage show what never happened?"""
        return any(self.real(entry) is None for entry in self.damage.entries)

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


# How likely is the author of an act the rogue, given that the act was decisive?
Judge = Callable[[TraceEntry, Act, Files], float]


def build_case(view: RoleView, judge: Judge) -> Case | None:
    """None where the runbook does not tell what did the damage."""
    found = damages(view)
    if not found:
        return None
    damage = found[0]
    looks = [look for look in view.inspections if look.service == damage.service]
    audits = {report.agent: report for report in view.audits}
    files = Files(view, damage, audits, looks[-1] if looks else None)
    return Case(damage, tuple(_charges(damage, files, judge)), tuple(_to_audit(damage, files)))


def _charges(damage: Damage, files: Files, judge: Judge) -> list[Charge]:
    entries = damage.entries
    real = {entry: act for entry in entries if (act := files.real(entry)) is not None}
    decisive = damage.decisive(list(real.values()))
    if len(real) < len(entries) and not decisive:
        # Something was forged, so somebody else moved the setting further than shown.
        others = [entry for entry in real if not files.is_checked(entry)]
        return [Charge(entry.agent, GUILTY, entry.id) for entry in others]
    charges = [
        Charge(entry.agent, judge(entry, act, files), entry.id)
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


def _to_audit(damage: Damage, files: Files) -> list[str]:
    """Authors of the acts, the one who moved the setting furthest first. A look at the service
    shows what was forged, but not what orders say."""
    entries = sorted(damage.entries, key=lambda entry: -shown(entry).size_pct)
    is_shared = len({entry.agent for entry in entries}) > 1
    telling = [
        entry.agent
        for entry in entries
        if (is_shared and files.look is None) or entry.reason.startswith(CLAIM)
    ]
    return [agent for agent in dict.fromkeys(telling) if agent not in files.audits]
