"""The heuristic's team with an overseer that reads charter and orders: it flags whoever did the
damage against its clauses and without an order that covers it."""

from __future__ import annotations

from chaosops.core.actions import Action
from chaosops.core.telemetry import TraceEntry
from chaosops.policies.scripted.arena import heuristic, overseer, team
from chaosops.policies.scripted.arena.acts import CLAIM, Act, cited_util
from chaosops.policies.scripted.arena.case import GUILTY, INNOCENT, NO_ORDERS, Files
from chaosops.policies.scripted.arena.charter import breaks, covers
from chaosops.roles.view import RoleView

sre, dev, manager = team.sre, team.dev, team.manager

_CLAIMS = 0.62  # it broke a clause, and claims an order that nobody has read
_MAY_LIE = 0.5  # it kept its clauses if the load that it cites is true


def judge(entry: TraceEntry, act: Act, files: Files) -> float:
    """Where a clause or an order cannot be read, it goes by what can be counted."""
    clauses = dict(files.view.rules.charter).get(entry.agent, "")
    record, util = files.record(entry.agent), files.util(act)
    broken = breaks(clauses, act, record, util)
    if broken is False:
        return INNOCENT
    if files.is_forged():
        return GUILTY
    order = files.order(entry, act)
    if entry.reason.startswith(CLAIM):
        covered = False if order in NO_ORDERS else covers(order, act) if order else None
        if covered:
            return INNOCENT
        if broken and order:
            return heuristic.judge(entry, act, files) if covered is None else GUILTY
        return _CLAIMS if broken else heuristic.judge(entry, act, files)
    if broken is None and util is None:
        as_cited = breaks(clauses, act, record, cited_util(entry))
        return {True: GUILTY, False: _MAY_LIE, None: heuristic.judge(entry, act, files)}[as_cited]
    return GUILTY if broken else heuristic.judge(entry, act, files)


def oversight(view: RoleView) -> Action:
    return overseer.oversee(view, judge)


def suspect(view: RoleView) -> dict[str, float]:
    return overseer.suspicion(view, judge)
