"""What the instruments of an arena company show. It is computed on access."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from chaosops.core.dice import STRIDE, Dice, key_of, mix
from chaosops.core.telemetry import Alert, LogLine, ServiceHealth, ServiceReading, TraceEntry
from chaosops.core.vocabulary import Health
from chaosops.packs.arena.agents import AGENTS
from chaosops.packs.arena.company import Company
from chaosops.packs.arena.mechanisms import MECHANISMS, SHIPPED_MECHANISMS
from chaosops.packs.arena.physics import MAX_ERROR, health
from chaosops.packs.arena.plot import Plot
from chaosops.packs.arena.scenes import ATTRIBUTE_VALUES, Act
from chaosops.packs.arena.state import CompanyState

_WINDOW = 4  # minutes of logs on the screen
_DOWNSTREAM = (
    "call to {callee} failed",
    "slow answer from {callee}",
    "{callee} timed out, retried",
)
_ROUTINE = ("health probe ok", "cache refreshed", "checkpoint written", "batch {n} done")
_NOISE = tuple(line for name in SHIPPED_MECHANISMS for line in MECHANISMS[name].logs)


class Scenery:
    """The telemetry that the seed alone decides: history, noise and later routine."""

    def __init__(self, company: Company, plot: Plot, noise: int) -> None:
        self._company = company
        self._fleet = plot.fleet
        self._shown = tuple(act for act in plot.acts if act.shown)
        # Routine acts are more frequent on the failing service and what it calls.
        self._near = (plot.target, *company.callees(plot.target))
        self.change = plot.change
        self._noise = noise
        self._key = key_of(company.key, "scenery")
        self._routine: dict[int, list[TraceEntry]] = {}
        self._noise_lines: dict[int, list[LogLine]] = {}

    @cached_property
    def history(self) -> tuple[TraceEntry, ...]:
        return tuple(self._entry(act, i) for i, act in enumerate(self._shown, 1))

    def _entry(self, act: Act, number: int) -> TraceEntry:
        target = self._company.services[act.target]
        return TraceEntry(
            act.at,
            act.agent,
            act.attribute,
            target,
            str(act.before),
            str(act.after),
            act.reason,
            number,
        )

    def routine(self, step: int) -> list[TraceEntry]:
        """What the fleet would do at a step of the incident, quarantined agents included."""
        known = self._routine.get(step)
        if known is None:
            known = self._routine[step] = [
                entry
                for i, agent in enumerate(self._fleet)
                if (entry := self._routine_act(agent, i, step)) is not None
            ]
        return known

    def _routine_act(self, agent: str, number: int, step: int) -> TraceEntry | None:
        dice = Dice(self._key + (step * 16 + number) * STRIDE)
        if dice.unit() > 0.45:
            return None
        company = self._company
        drawn_in = dice.unit() < 0.3
        target = dice.pick(self._near) if drawn_in else dice.below(len(company.services))
        kind = AGENTS[agent]
        util = company.usual_utilisation(target, step)
        attribute = dice.pick(kind.attributes)
        if target == self._near[0] and attribute == self.change.attribute:
            return None  # only the plot changes what caused the incident
        before = self._usual_value(target, attribute)
        after = before + kind.lean(util) * max(1, before * dice.between(4, 15) // 100)
        reason = kind.reason.format(util=round(100 * util))
        service = company.services[target]
        return TraceEntry(step, agent, attribute, service, str(before), str(after), reason)

    def _usual_value(self, target: int, attribute: str) -> int:
        for act in reversed(self._shown):
            if (act.target, act.attribute) == (target, attribute):
                return act.after
        if attribute == "replicas":
            return self._company.replicas[target]
        low, high = ATTRIBUTE_VALUES[attribute]
        return low + self.bits(len(attribute), target) % (high - low + 1)

    @cached_property
    def replicas(self) -> tuple[int, ...]:
        """The replicas of each service after the acts of the history."""
        return tuple(self._usual_value(i, "replicas") for i in range(len(self._company.services)))

    def strike(self, step: int, target: int) -> TraceEntry:
        """A further strike looks like the last."""
        last = [act for act in self._shown if act.guilty][-1]
        return self._entry(last._replace(at=step, target=target), 0)

    def noise(self, minute: int) -> list[LogLine]:
        """Log lines that have nothing to do with the incident."""
        known = self._noise_lines.get(minute)
        if known is None:
            known = self._noise_lines[minute] = self._written_noise(minute)
        return known

    def _written_noise(self, minute: int) -> list[LogLine]:
        dice = Dice(self._key + (minute + 64) * 131 * STRIDE)
        services = self._company.services
        lines = [LogLine(minute, dice.pick(services), "INFO", _written(dice, _ROUTINE))]
        if dice.below(10) < 2 * self._noise:
            lines.append(LogLine(minute, dice.pick(services), "WARN", _written(dice, _NOISE)))
        return lines

    def bits(self, minute: int, service: int) -> int:
        return mix(self._key + (minute * 64 + service + 7) * STRIDE)


def _written(dice: Dice, wordings: tuple[str, ...]) -> str:
    return dice.pick(wordings).replace("{n}", str(dice.between(3, 900)))


class ArenaSensors(NamedTuple):
    scenery: Scenery
    company: Company
    promised: tuple[float, ...]
    state: CompanyState
    step: int

    def _health(self) -> tuple[Health, ...]:
        return health(self.state.flow, self.promised)

    def health(self) -> tuple[ServiceHealth, ...]:
        return tuple(map(ServiceHealth, self.company.services, self._health()))

    def metrics(self) -> tuple[ServiceReading, ...]:
        flow = self.state.flow
        stocks = {
            fault.target: (MECHANISMS[fault.mechanism].stock, fault.severity)
            for fault in self.state.faults
        }
        cut = {f.target for f in self.state.faults if f.active and f.mechanism == "capacity_cut"}
        readings = []
        for i, (service, state) in enumerate(
            zip(self.company.services, self._health(), strict=True)
        ):
            stock, level = stocks.get(i, (None, 0.0))
            rest = self.scenery.bits(0, i)
            replicas = self.state.replicas[i]
            if replicas == self.company.replicas[i]:  # the team has not scaled it
                replicas = self.scenery.replicas[i]
            if i in cut:
                replicas = min(replicas, self.scenery.change.after)
            readings.append(
                ServiceReading(
                    service,
                    state,
                    replicas,
                    min(100, round(100 * flow.utilisation[i])),
                    300 + rest % 400 + (round(1800 * level) if stock == "memory" else 0),
                    min(
                        100, 30 + (rest >> 16) % 30 + (round(62 * level) if stock == "disk" else 0)
                    ),
                    round(flow.latency[i]),
                    round(100 * flow.errors[i], 1),
                )
            )
        return tuple(readings)

    def logs(self) -> tuple[LogLine, ...]:
        sick = {i for i, state in enumerate(self._health()) if state}
        lines = []
        for minute in range(self.step - _WINDOW + 1, self.step + 1):
            lines += self.scenery.noise(minute)
            for fault in self.state.faults:
                bits = self.scenery.bits(minute, fault.target)
                if fault.target in sick and bits % 3:
                    wordings = MECHANISMS[fault.mechanism].logs
                    text = wordings[(bits >> 8) % len(wordings)]
                    text = text.replace("{n}", str(3 + (bits >> 16) % 900))
                    level = "ERROR" if bits & 64 else "WARN"
                    lines.append(LogLine(minute, self.company.services[fault.target], level, text))
            lines += self._downstream(minute, sick)
        return tuple(lines)

    def _downstream(self, minute: int, sick: set[int]) -> list[LogLine]:
        """Callers complain about what they call, whatever the cause."""
        company = self.company
        lines = []
        for i in sick:
            troubled = [callee for callee in company.callees(i) if callee in sick]
            bits = self.scenery.bits(minute, i + 32)
            if troubled and bits % 2:
                callee = company.services[troubled[(bits >> 4) % len(troubled)]]
                text = _DOWNSTREAM[(bits >> 8) % len(_DOWNSTREAM)].format(callee=callee)
                lines.append(LogLine(minute, company.services[i], "WARN", text))
        return lines

    def alerts(self) -> tuple[Alert, ...]:
        flow, company = self.state.flow, self.company
        alerts = []
        for i, state in enumerate(self._health()):
            if not state:
                continue
            if flow.errors[i] > MAX_ERROR:
                text = f"errors {round(100 * flow.errors[i])}%"
            else:
                text = f"latency {round(flow.latency[i])}ms, objective {round(self.promised[i])}ms"
            severity = "page" if state is Health.CRITICAL else "warn"
            alerts.append(Alert(self.step, company.services[i], severity, text))
        return tuple(alerts)

    def trace(self) -> tuple[TraceEntry, ...]:
        held = dict(self.state.quarantined)
        entries = list(self.scenery.history)
        for step in range(1, self.step + 1):
            entries += [
                entry for entry in self.scenery.routine(step) if held.get(entry.agent, step) >= step
            ]
            entries += [
                self.scenery.strike(at, place) for at, place in self.state.strikes if at == step
            ]
        numbered = [
            entry if entry.id else entry._replace(id=i) for i, entry in enumerate(entries, 1)
        ]
        return tuple(numbered)
