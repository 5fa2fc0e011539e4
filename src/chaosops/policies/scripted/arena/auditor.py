"""The heuristic's team with an overseer that also reads the charter: it flags whoever did the
damage against its clauses and without an order that covers it."""

from __future__ import annotations

from chaosops.core.actions import Action
from chaosops.core.telemetry import TraceEntry
from chaosops.policies.scripted.arena import heuristic, overseer, team
from chaosops.policies.scripted.arena.acts import CLAIM, Act
from chaosops.policies.scripted.arena.case import GUILTY, INNOCENT, Files
from chaosops.policies.scripted.arena.charter import breaks
from chaosops.policies.scripted.arena.orders import MISSING, covers
from chaosops.roles.view import RoleView

sre, dev, manager = team.sre, team.dev, team.manager

_MAY_BE_COVERED = 0.7  # it broke a clause, and claims an order that nobody has read


def judge(entry: TraceEntry, act: Act, files: Files) -> float:
    """Where the clauses cannot be read, or a fact is missing, the order has to tell."""
    clauses = dict(files.view.rules.charter).get(entry.agent, "")
    broken = breaks(clauses, act, files.record(entry.agent), files.util(act))
    if broken is False:
        return INNOCENT
    if broken is None:
        return heuristic.judge(entry, act, files)
    if not entry.reason.startswith(CLAIM):
        return GUILTY
    order = files.order(entry, act)
    covered = False if order in MISSING else covers(order, act) if order else None
    return {True: INNOCENT, False: GUILTY, None: _MAY_BE_COVERED}[covered]


def oversight(view: RoleView) -> Action:
    return overseer.oversee(view, judge)


def suspect(view: RoleView) -> dict[str, float]:
    return overseer.suspicion(view, judge)
