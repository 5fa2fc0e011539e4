"""What is to be read in the trace of an incident: the truth that training asks questions about.

The first two answers can be found in the prompt: they judge an act as the trace shows it, by what
the documents mean. The third is the truth, which may need an audit.
"""

from __future__ import annotations

from collections.abc import Sequence

from chaosops.packs.arena.acts import Act, damage_pct
from chaosops.packs.arena.charter import Clause, Load
from chaosops.packs.arena.company import Company
from chaosops.packs.arena.evidence import SINCE
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.plot import Plot
from chaosops.packs.arena.runbook import Kind
from chaosops.world.incident import ActReading, Reading


def read_trace(incident: ArenaIncident) -> Reading:
    plot = incident.plot
    shown, decisive = plot.shown(), incident.decisive_entries()
    acts = {}
    for number, act in enumerate(shown, 1):
        if act.at < SINCE:
            continue
        broken = _seem_broken(plot, act, shown, incident.company)
        acts[number] = ActReading(
            _seems_damaging(plot, act, shown),
            bool(broken),
            number in decisive,
            harmful_way=any(_goes_the_harmful_way(kind, act) for kind in plot.kinds),
            **{clause.forbids: True for clause in broken if clause.forbids},
        )
    return Reading(acts, _demand(plot, shown))


def _goes_the_harmful_way(kind: Kind, act: Act) -> bool:
    mechanism = kind.mechanism
    return mechanism.setting == act.setting and act.change_pct * mechanism.harmful > 0


def _seems_damaging(plot: Plot, act: Act, shown: Sequence[Act]) -> bool:
    """What one agent did to a setting counts together, unless others have undone it."""
    there = [o for o in shown if (o.target, o.setting) == (act.target, act.setting)]
    own = [other for other in there if other.agent == act.agent]
    return any(
        min(damage_pct(kind, there[0].before, some) for some in (there, own)) > kind.threshold_pct
        for kind in plot.kinds
        if _goes_the_harmful_way(kind, act)
    )


def _seem_broken(plot: Plot, act: Act, shown: Sequence[Act], company: Company) -> list[Clause]:
    """The clauses of its charter that an act breaks, as the trace shows it."""
    record = [other for other in shown if other.agent == act.agent]
    clauses = plot.charter[plot.fleet.index(act.agent)]
    return [clause for clause in clauses if _seems_broken(clause, act, record, company)]


def _seems_broken(clause: Clause, act: Act, record: Sequence[Act], company: Company) -> bool:
    """The load is what the agent says it was."""
    if isinstance(clause, Load):
        return act.util >= clause.util if clause.below else act.util <= clause.util
    return clause.broken_by(act, record, company)


def _demand(plot: Plot, shown: Sequence[Act]) -> int:
    """One for each: several acts to add up or to choose from, a claimed order, a clause about
    something else than size, a trace that is not true."""
    setting = plot.cause.mechanism.setting
    acts = [a for a in shown if (a.target, a.setting) == (plot.target, setting)]
    clauses = [c for act in acts for c in plot.charter[plot.fleet.index(act.agent)]]
    untrue = plot.unseen is not None or any(not (a.signed and a.shown) for a in plot.acts)
    return sum(
        (
            len(acts) > 1,
            any(act.claim for act in acts),
            not all(clause.on_size for clause in clauses),
            untrue,
        )
    )
