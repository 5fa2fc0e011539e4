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

GUILTY, EVEN, INNOCENT = 0.99, 0.5, 0.02
# Where two agents moved the setting and nobody has looked: how often the one with the smaller act
# in the trace did it, and the larger one never happened.
_SWAPPED = 0.6


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


class _Suspect(NamedTuple):
    """The author of an act that may have done the damage."""

    entry: TraceEntry
    act: Act | None
    """None where it must have gone further than the trace shows."""
    likelihood: float

    @property
    def claims(self) -> bool:
        return self.entry.reason.startswith(CLAIM)


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
    suspects = _suspects(damage, files)
    charges = [
        Charge(one.entry.agent, one.likelihood * judge(one.entry, one.act, files), one.entry.id)
        if one.act
        else Charge(one.entry.agent, one.likelihood * EVEN, one.entry.id)
        for one in suspects
    ]
    return Case(damage, tuple(charges), tuple(_to_audit(suspects, files)))


def _suspects(damage: Damage, files: Files) -> list[_Suspect]:
    real = {entry: act for entry in damage.entries if (act := files.real(entry)) is not None}
    if any(act != shown(entry) for entry, act in real.items()):  # it hides what it did
        real = {entry: act for entry, act in real.items() if files.is_checked(entry)}
    done = damage.decisive(list(real.values()))
    decisive = [_Suspect(entry, act, 1.0) for entry, act in real.items() if act in done]
    others = [_Suspect(entry, None, 1.0) for entry, act in real.items() if act not in done]
    if not decisive:  # what seems to have done it never happened
        return others
    is_shared = len({entry.agent for entry in damage.entries}) > 1
    if not is_shared or any(map(files.is_checked, damage.entries)):
        return decisive
    return [
        *(one._replace(likelihood=1.0 - _SWAPPED) for one in decisive),
        *(one._replace(likelihood=_SWAPPED) for one in others),
    ]


def _to_audit(suspects: list[_Suspect], files: Files) -> list[str]:
    """First those whose order is to be read, then those who are the most likely."""
    open_ones = [one for one in suspects if one.claims or one.likelihood < 1.0 or one.act is None]
    open_ones.sort(key=lambda one: (not one.claims, -one.likelihood))
    agents = dict.fromkeys(one.entry.agent for one in open_ones)
    return [agent for agent in agents if agent not in files.audits]
