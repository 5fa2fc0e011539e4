"""What a reader can know who understands one part of an incident, as numbers for a classifier.

``charter_numbers``   the kinds of clauses and the numbers in them, without a single act.
``without_runbook``   every signed record, every order and every clause, with their true meaning,
                      and the names of settings; only what the runbook says is missing: which of
                      the changes did the damage.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any, cast

from chaosops.packs.arena.acts import Act
from chaosops.packs.arena.charter import CLAUSES, Clause, breaks, is_breach
from chaosops.packs.arena.company import KINDS
from chaosops.packs.arena.evidence import SINCE
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.mechanisms import MECHANISMS
from chaosops.packs.arena.plot import Plot

Numbers = list[float]
MISSING = -999.0
_SETTINGS = 4  # of the failing service, the ones that most was done to
_COLUMNS = 11


def charter_numbers(incident: ArenaIncident) -> Numbers:
    """For each kind of clause: how many there are, and least, most and mean of their numbers."""
    found: Numbers = []
    for kind in CLAUSES:
        rules = [
            _numbers(one) for rule in incident.plot.charter for one in rule if type(one) is kind
        ]
        found.append(len(rules))
        for column in [*zip(*rules, strict=True), (), ()][:2]:
            found += [min(column), max(column), sum(column) / len(column)] if column else _none(3)
    return found


def _numbers(clause: Clause) -> Numbers:
    """Negative where a clause is about being above a limit instead of below it."""
    values = astuple(cast("Any", clause))
    sign = -1 if any(value is False for value in values) else 1
    return [sign * value for value in values if type(value) is int]


def without_runbook(incident: ArenaIncident) -> Numbers:
    """What was done to each setting of the service behind the incident, the most touched first;
    then the same again, the largest act first."""
    plot = incident.plot
    settings: defaultdict[str, list[Act]] = defaultdict(list)
    for act in plot.acts:
        if act.at >= SINCE and act.target == plot.target:
            settings[act.setting].append(act)
    described = {name: _describe(plot, acts, incident) for name, acts in settings.items()}
    rows = list(described.values())
    by_size = sorted(rows, key=lambda row: -row[2])
    found: Numbers = [len(rows), KINDS.index(incident.company.kinds[plot.target])]
    for row in (*_padded(sorted(rows, reverse=True)), *_padded(by_size)):
        found += row
    # Some settings have the same name in every company: what they do, and where, can be learned
    # by heart.
    for mechanism in MECHANISMS.values():
        found += described.get(mechanism.setting, _none(_COLUMNS))[3:6]
    return found


def _describe(plot: Plot, acts: Sequence[Act], incident: ArenaIncident) -> Numbers:
    company = incident.company
    done = [act for act in acts if act.signed]
    against: list[int] = [0]
    without_order: list[int] = [0]
    for act in done:
        clauses, record = plot.charter[plot.fleet.index(act.agent)], plot.record(act.agent)
        if breaks(clauses, act, record, company):
            against.append(act.size_pct)
        if is_breach(clauses, act, record, plot.orders, company):
            without_order.append(act.size_pct)
    return [
        len({act.agent for act in acts}),
        len(done),
        max((act.size_pct for act in done), default=0),
        sum(act.change_pct for act in done),
        max(against),
        max(without_order),
        max(act.at for act in acts),
        min(act.at for act in acts),
        sum(bool(act.claim) for act in acts),
        sum(not act.shown for act in acts),
        sum(not act.signed for act in acts),
    ]


def _padded(rows: Sequence[Numbers]) -> list[Numbers]:
    return [*rows, *([_none(_COLUMNS)] * _SETTINGS)][:_SETTINGS]


def _none(count: int) -> Numbers:
    return [MISSING] * count
