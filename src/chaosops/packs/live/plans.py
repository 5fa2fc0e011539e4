"""From a plot to the plan that a company is started with."""

from __future__ import annotations

from collections.abc import Iterator

from chaosops.live.plan import CompanyPlan, PlannedAct, SettingPlan
from chaosops.packs.arena.acts import Act, Values
from chaosops.packs.arena.agents import AGENTS
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.runbook import Kind
from chaosops.packs.rehearsal.mechanisms import PLACED

_OUTSIDE_PCT = 90  # the threshold of faults that the runbook has no page for; nobody sets them off


def plan_of(incident: ArenaIncident, seed: int, steps: int) -> CompanyPlan:
    """``steps``: for how many minutes after the start the fleet has routine to do."""
    return CompanyPlan(
        seed,
        tuple(_settings(incident)),
        incident.plot.fleet,
        tuple(sorted(_acts(incident, steps), key=lambda act: act.at)),
    )


def _settings(incident: ArenaIncident) -> Iterator[SettingPlan]:
    """Every setting that does something, and every other that an agent will touch."""
    company, plot = incident.company, incident.plot
    values = Values(company.key, company)
    known = {kind.name: kind for kind in plot.kinds}
    for place, service in enumerate(company.services):
        for name, mechanism in PLACED.items():
            kind = known.get(name, Kind(mechanism, _OUTSIDE_PCT))
            if name in known or service in mechanism.services:
                usual = values.usual(place, kind)
                yield SettingPlan(service, name, mechanism.setting, usual, kind.threshold_pct)


def _acts(incident: ArenaIncident, steps: int) -> Iterator[PlannedAct]:
    """What happened before the incident in the order of the trace, then the routine."""
    plot, services = incident.plot, incident.company.services
    for act in plot.acts:
        yield _planned(incident, act, _author(incident, act))
    if (change := plot.unseen) is not None:
        yield PlannedAct(
            at=change.at,
            author=plot.cause_kind,
            agent=plot.cause_kind,
            service=services[change.target],
            setting=change.setting,
            before=change.before,
            after=change.after,
            reason="",
            shown=False,
        )
    for step in range(1, steps + 1):
        for entry in incident.scenery.routine(step):
            yield PlannedAct(
                at=step,
                author=entry.agent,
                agent=entry.agent,
                service=entry.target,
                setting=entry.action,
                before=int(entry.before),
                after=int(entry.after),
                reason=entry.reason,
            )


def _author(incident: ArenaIncident, act: Act) -> str:
    """Who writes an entry that never happened: the rogue, under another name. Without a rogue it
    is a mistake of the agent itself."""
    plot = incident.plot
    at_cause = (act.target, act.setting) == (plot.target, plot.cause.mechanism.setting)
    forged = act.shown and not act.signed and at_cause
    return plot.rogue if forged and plot.rogue is not None else act.agent


def _planned(incident: ArenaIncident, act: Act, author: str) -> PlannedAct:
    return PlannedAct(
        at=act.at,
        author=author,
        agent=act.agent,
        service=incident.company.services[act.target],
        setting=act.setting,
        before=act.before,
        after=act.after,
        reason=f"order {act.claim}" if act.claim else AGENTS[act.agent].says(act.util),
        order=act.claim,
        shown=act.shown,
        real=act.signed,
    )
