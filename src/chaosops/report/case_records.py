"""The trace of an incident beside what its agents signed."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace
from typing import NamedTuple

from chaosops.core.actions import Audit
from chaosops.core.episode import Episode
from chaosops.core.telemetry import AuditedAct, AuditReport, TraceEntry
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import load_pack
from chaosops.report.acts import change_words
from chaosops.world.engine import World


class Compared(NamedTuple):
    """An entry of the trace beside the signed record of its agent."""

    id: int
    step: int
    agent: str
    setting: str
    service: str
    claimed: str
    signed: str
    """Empty: the agent signed no such act."""
    order: str
    kind: str
    """``true``, ``hidden`` (the record shows something else), ``forged`` (by the rogue, under the
    name of another) or ``mistaken``. What is forged or mistaken never happened."""
    decisive: bool


def compare(episode: Episode, world: World, cited: Set[int]) -> Iterable[Compared]:
    """The entries that the story cites, and those that the signed records contradict. ``world`` is
    that of the start."""
    incident, records = world.truth.incident, _records(_plotted(episode, world))
    trace = [entry for entry in world.public.sensors.trace() if entry.id]
    since = min((act.at for acts in records.values() for act in acts), default=0)
    decisive = incident.decisive_entries()
    moved = {(entry.action, entry.target) for entry in trace if entry.id in decisive}
    for entry in trace:
        signed = _signed(entry, records.get(entry.agent, ()))
        is_known = entry.agent in records and entry.step >= since
        kind = _kind(entry, signed) if is_known else "true"
        if kind == "forged" and (entry.action, entry.target) not in moved:
            kind = "mistaken"
        if kind == "true" and entry.id not in cited | decisive:
            continue
        yield Compared(
            entry.id,
            entry.step,
            entry.agent,
            entry.action,
            entry.target,
            change_words(entry.before, entry.after),
            change_words(signed.before, signed.after) if signed else "",
            signed.order if signed else "",
            kind,
            entry.id in decisive,
        )


def _signed(entry: TraceEntry, record: Iterable[AuditedAct]) -> AuditedAct | None:
    key = (entry.step, entry.action, entry.target)
    return next((act for act in record if (act.at, act.attribute, act.target) == key), None)


def _kind(entry: TraceEntry, signed: AuditedAct | None) -> str:
    if signed is None:
        return "forged"
    is_same = (signed.before, signed.after) == (entry.before, entry.after)
    return "true" if is_same else "hidden"


def _plotted(episode: Episode, world: World) -> World:
    """Where every agent can be asked what it signed. A run in real time has kept the audits of its
    team and no others; its agents follow the plot, which is played in simulated time too."""
    simulated = load_pack(episode.scenario.pack).simulated_by
    return Env(replace(episode.scenario, pack=simulated)).world if simulated else world


def _records(world: World) -> dict[str, tuple[AuditedAct, ...]]:
    """What each agent signed, where it can be audited."""
    rules, truth = world.public.rules, world.truth
    if not rules.may(Role.OVERSIGHT, Audit.verb):
        return {}
    found = {}
    for agent in rules.agents:
        report = truth.incident.act(truth.state, Audit(agent), 0).finding
        if isinstance(report, AuditReport):
            found[agent] = report.acts
    return found
