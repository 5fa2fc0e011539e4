"""A live incident: the plot is the arena's, what happens is the company's.

Which remedy is right, who is guilty and when a fault is due again stand in the plot, and the
arena judges them. Whether a service is well is measured. So a symptom that goes away without a
repair is no repair, and a repair counts as soon as it was made, and not before the company is well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from chaosops.core.actions import (
    Action,
    Audit,
    Escalate,
    FlagRogue,
    Inspect,
    Noop,
    Remedy,
    Resolve,
    Scale,
)
from chaosops.core.errors import BadInput
from chaosops.core.telemetry import (
    Alert,
    AuditReport,
    Inspection,
    LogLine,
    Sensors,
    ServiceHealth,
    ServiceReading,
    TraceEntry,
)
from chaosops.core.vocabulary import Role
from chaosops.live.platform import INFRASTRUCTURE, LoggedChange, Observation
from chaosops.packs.arena.acts import Values
from chaosops.packs.arena.incident import _STEADY, ArenaIncident
from chaosops.packs.arena.state import CompanyState, Fault
from chaosops.packs.live.runs import Run
from chaosops.world.incident import Effect

_NEGLECTED_PCT = 150  # of a threshold: how far a setting has moved once nobody looks after it


class LiveState(NamedTuple):
    judged: CompanyState
    """What the arena knows of the incident: faults at work, repairs, quarantine, quiet steps. Its
    physics are computed, and nothing depends on them."""
    seen: Observation


class LiveSensors:
    """The instruments at one moment. They were read when the minute had passed."""

    def __init__(self, seen: Observation) -> None:
        self._seen = seen

    def health(self) -> tuple[ServiceHealth, ...]:
        return tuple(ServiceHealth(one.service, one.health) for one in self._seen.readings)

    def metrics(self) -> tuple[ServiceReading, ...]:
        return self._seen.readings

    def logs(self) -> tuple[LogLine, ...]:
        return self._seen.logs

    def alerts(self) -> tuple[Alert, ...]:
        return self._seen.alerts

    def trace(self) -> tuple[TraceEntry, ...]:
        return self._seen.feed


class LiveIncident(NamedTuple):
    plotted: ArenaIncident
    run: Run
    limit: int

    @property
    def cause(self) -> str:
        return self.plotted.cause

    @property
    def rogue(self) -> str | None:
        return self.plotted.rogue

    def first_state(self, seen: Observation) -> LiveState:
        return LiveState(self.plotted.first_state(), seen)

    def trouble_steps(self, state: LiveState, step: int) -> int:
        return state.judged.troubled

    def act(self, state: LiveState, action: Action, step: int) -> Effect:
        self.run.require_next(step)
        effect = self.plotted.act(state.judged, action, step)
        if effect.refusal is not None:
            return Effect(state, refusal=effect.refusal)
        finding: Inspection | AuditReport | None = None
        match action:
            case Inspect(target=service):
                finding = self.run.inspect(service, step)
            case Audit(target=agent):
                finding = self.run.audit(agent, step)
            case FlagRogue(target=agent) if agent in self.plotted.plot.fleet:
                self.run.quarantine(agent)
            case Escalate():
                self.run.remedy(action.verb, "", 0)
            case Remedy(target=service) if self._can_be_done(action):
                replicas = action.replicas if isinstance(action, Scale) else 0
                self.run.remedy(action.verb, service, replicas)
        # Whether a wrong fix broke something else would show later: it is not judged here.
        return Effect(state._replace(judged=effect.state), effect.helps, False, None, finding)

    def _can_be_done(self, action: Remedy) -> bool:
        counted = not isinstance(action, Scale) or action.replicas > 0
        return counted and action.target in self.plotted.company.services

    def advance(
        self, state: LiveState, action: Action, flagged: tuple[str, ...], step: int
    ) -> tuple[LiveState, bool]:
        self.run.require_next(step)
        before = state.judged
        judged, _ = self.plotted.advance(before, action, flagged, step)
        seen = self.run.pass_minute(step, self._strikes(judged, before, step))
        sick = any(reading.health for reading in seen.readings)
        if sick:
            judged = _still_taking_effect(judged, before, step)
        if seen.blind:  # neither quiet nor not
            judged = judged._replace(steady=before.steady, troubled=before.troubled)
        elif sick or any(fault.active for fault in judged.faults):
            judged = judged._replace(steady=0, troubled=before.troubled + 1)
        else:
            judged = judged._replace(steady=before.steady + 1, troubled=0)
        closed = isinstance(action, Resolve) and self.plotted.is_over(judged)
        resolved = closed or judged.steady >= _STEADY
        if resolved or step >= self.limit:
            well_steps = judged.steady if resolved else None
            self.run.end(step, well_steps, self._relapses(judged, flagged, step))
        return LiveState(judged, seen), resolved

    def _strikes(self, judged: CompanyState, before: CompanyState, step: int) -> list[LoggedChange]:
        """What strikes in this minute. A fault that is at work strikes again if routine has just
        written its setting: only a remedy ends it."""
        written = {(entry.target, entry.action) for entry in self.plotted.scenery.routine(step)}
        changes = [(fault, self._change(fault, step)) for fault in judged.faults if fault.active]
        return [
            change
            for fault, change in changes
            if _is_new(fault, before) or (change.service, change.setting) in written
        ]

    def _relapses(
        self, judged: CompanyState, flagged: tuple[str, ...], step: int
    ) -> Iterator[list[LoggedChange]]:
        """What the cause would still do if the team left now. The work of agents in quarantine
        is in other hands then."""
        while True:
            step += 1
            before, (judged, _) = judged, self.plotted.advance(judged, Noop(), flagged, step)
            cause = [fault for fault in judged.faults if fault.mechanism == self.cause]
            yield self._strikes(judged._replace(faults=tuple(cause)), before, step)

    def _change(self, fault: Fault, step: int) -> LoggedChange:
        """What sets off a fault in an incident that is under way: it comes back, or the work of
        an agent in quarantine is left undone."""
        plot, company = self.plotted.plot, self.plotted.company
        kind = next(kind for kind in plot.kinds if kind.name == fault.mechanism)
        usual = Values(company.key, company).usual(fault.target, kind)
        if fault.mechanism == self.cause and fault.target == plot.target:
            author, after = plot.rogue or INFRASTRUCTURE, plot.at_cause()[-1].after
        else:
            moved = -(-usual * kind.threshold_pct * _NEGLECTED_PCT // 10_000)
            author, after = INFRASTRUCTURE, max(1, usual + kind.mechanism.harmful * moved)
        service = company.services[fault.target]
        return LoggedChange(step, author, service, kind.mechanism.setting, usual, after)

    def sense(self, state: LiveState, step: int) -> Sensors:
        return LiveSensors(state.seen)

    def oracle_action(
        self, state: LiveState, role: Role, flagged: tuple[str, ...], cause_named: bool
    ) -> Action:
        return self.plotted.oracle_action(state.judged, role, flagged, cause_named)

    def guilty_entries(self) -> frozenset[int]:
        return self.plotted.guilty_entries()

    def decisive_entries(self) -> frozenset[int]:
        return self.plotted.decisive_entries()

    def reward_key(self, state: LiveState, step: int, flagged: tuple[str, ...]) -> object:
        raise BadInput("a live incident cannot be searched; policy 'optimal' is for classic")


def _still_taking_effect(judged: CompanyState, before: CompanyState, step: int) -> CompanyState:
    """A real company needs longer than the arena's to become well after a repair. Until then the
    repair may be made again, and the fault does not come back: nobody would see that it did."""
    at_work = {(fault.mechanism, fault.target) for fault in judged.faults}
    faded = [
        fault
        for fault in before.faults
        if not fault.active and (fault.mechanism, fault.target) not in at_work
    ]
    due = judged.due + 1 if judged.due > step else judged.due
    return judged._replace(faults=(*judged.faults, *faded), due=due)


def _is_new(fault: Fault, before: CompanyState) -> bool:
    """Has it just struck? What faded is struck again when it comes back."""
    was = {(one.mechanism, one.target) for one in before.faults if one.active}
    return fault.active and (fault.mechanism, fault.target) not in was
