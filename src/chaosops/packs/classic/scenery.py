"""What the instruments of one classic episode show: numbers, wording and order by seed.

Everything is a pure function of the seed and the observable state, and is computed on access.
Nothing here changes a reward.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

from chaosops.core.dice import STRIDE, Dice, key_of, mix
from chaosops.core.telemetry import Alert, LogLine, ServiceHealth, ServiceReading, TraceEntry
from chaosops.core.vocabulary import Health
from chaosops.packs.classic.fleet import Fleet
from chaosops.packs.classic.services import INDEX, SERVICES, ClassicState, HealthChange
from chaosops.packs.classic.symptoms import Line, Marks, Strain, Symptoms

T = TypeVar("T")

_STEP_OF = itemgetter(0)  # every record starts with its step

_AT_REST = {
    "auth": Strain(31, 340, 41, 45, 3),
    "payments": Strain(36, 410, 44, 60, 4),
    "notifications": Strain(22, 360, 40, 80, 6),
    "db": Strain(40, 860, 46, 20, 1),
}

_ROUTINE_LOGS = (
    Line("auth", "INFO", ("session cache refreshed, {n} entries", "{n} tokens renewed")),
    Line("payments", "INFO", ("batch {n} settled", "reconciled {n} charges")),
    Line("notifications", "INFO", ("digest mail queued for {n} users", "{n} pushes delivered")),
    Line("db", "INFO", ("checkpoint {n} complete", "autovacuum on table events, {n} pages")),
)

RED_HERRINGS = (
    Line("auth", "WARN", ("clock skew of {n}ms against peer", "{n} logins from a new region")),
    Line("payments", "WARN", ("card network slow, answered after {ms}ms", "{n} charges retried")),
    Line("notifications", "WARN", ("mail provider asks to back off", "push gateway slow: {ms}ms")),
    Line("db", "WARN", ("slow query on table events: {ms}ms", "replica lag {ms}ms, catching up")),
    Line("db", "ERROR", ("client closed connection 0x{hex} unexpectedly", "lost client 0x{hex}")),
    Line("auth", "ERROR", ("password service answered 503 once", "retry {n} to audit sink failed")),
)

_CHANGE_LOGS = {
    Health.HEALTHY: ("INFO", ("probes pass again", "recovered")),
    Health.DEGRADED: ("WARN", ("heap grows since the last intervention", "slower than usual now")),
    Health.CRITICAL: ("ERROR", ("failing most requests now", "probes fail")),
}
_CHANGE_ALERTS = {
    Health.DEGRADED: ("warn", ("degraded", "slow, memory rising")),
    Health.CRITICAL: ("page", ("critical", "failing most requests")),
}


class _Timeline(Generic[T]):
    """Items in order of time. They are made step by step, only as far as they are read."""

    def __init__(self, items: list[T], steps: list[int], make: Callable[[int], list[T]]) -> None:
        self._items = items
        self._steps = steps  # the step of each item
        self._make = make
        self._made_until = 0

    def until(self, step: int) -> list[T]:
        while self._made_until < step:
            self._made_until += 1
            for item in self._make(self._made_until):
                at = bisect_right(self._steps, self._made_until)
                self._items.insert(at, item)
                self._steps.insert(at, self._made_until)
        return self._items[: bisect_right(self._steps, step)]


class Scenery:
    """The part of an episode's telemetry that does not depend on what the team does."""

    def __init__(self, symptoms: Symptoms, key: int, red_herrings: bool) -> None:
        self._symptoms = symptoms
        self._key = key
        self._red_herrings = red_herrings

    @cached_property
    def _marks(self) -> Marks:
        return Marks.draw(Dice(key_of(self._key, "marks")))

    @cached_property
    def _gauges(self) -> tuple[int, tuple[tuple[Strain, Strain], ...]]:
        """A key for the jitter, and per service its readings at rest and in trouble."""
        gauges = []
        dice = Dice(key_of(self._key, "gauges"))
        for service in SERVICES:
            at_rest = _varied(_AT_REST[service], dice)
            trouble = self._symptoms.strain.get(service)
            gauges.append((at_rest, _varied(trouble, dice) if trouble else at_rest))
        return dice.bits(), tuple(gauges)

    def readings(self, state: ClassicState, step: int) -> tuple[ServiceReading, ...]:
        key, gauges = self._gauges
        # One draw gives every gauge of every service its own four bits: a jitter within 5 %.
        bits = mix(key + step * STRIDE)
        out = []
        for service, health, replicas, (at_rest, trouble) in zip(
            SERVICES, state.health, state.replicas, gauges, strict=True
        ):
            cpu, memory, disk, latency, errors, growth = trouble if health else at_rest
            memory += growth * step
            out.append(
                ServiceReading(
                    service,
                    health,
                    replicas,
                    cpu + cpu * ((bits & 15) - 8) // 160,
                    memory + memory * ((bits >> 4 & 15) - 8) // 160,
                    disk,
                    latency + latency * ((bits >> 8 & 15) - 8) // 160,
                    (errors + errors * ((bits >> 12 & 15) - 8) // 160) / 10,
                )
            )
            bits >>= 16
        return tuple(out)

    @cached_property
    def _log_plan(self) -> _Timeline[LogLine]:
        dice = Dice(key_of(self._key, "logs"))
        first = [self._written(dice, step, dice.pick(_ROUTINE_LOGS)) for step in (-3, -2, -1)]
        if self._red_herrings:
            first += [
                self._written(dice, dice.between(-2, 1), line)
                for line in dice.shuffled(RED_HERRINGS)[:3]
            ]
        first += [self._written(dice, 0, line) for line in self._symptoms.logs]
        first = dice.shuffled(first)
        first.sort(key=_STEP_OF)

        def later(step: int) -> list[LogLine]:
            if step % 2 == 0:
                return [self._written(dice, step, dice.pick(self._symptoms.logs))]
            if dice.below(2) == 0:
                return []
            noisy = self._red_herrings and dice.below(3) == 0
            return [self._written(dice, step, dice.pick(RED_HERRINGS if noisy else _ROUTINE_LOGS))]

        return _Timeline(first, [line.step for line in first], later)

    def _written(self, dice: Dice, step: int, line: Line) -> LogLine:
        return LogLine(step, line.service, line.level, line.write(dice, self._marks))

    def logs(self, state: ClassicState, step: int) -> tuple[LogLine, ...]:
        """A service that has recovered writes only routine lines."""
        lines = self._log_plan.until(step)
        changes = state.changes
        if not changes:
            return tuple(lines)
        recovered = {SERVICES[change.service] for change in changes if not change.health}
        if recovered:
            lines = [
                line
                for line in lines
                if line.service not in recovered
                or line.level == "INFO"
                or not _healthy_at(changes, INDEX[line.service], line.step)
            ]
        for change in changes:
            level, wordings = _CHANGE_LOGS[change.health]
            text = self._worded(change, wordings)
            lines.append(LogLine(change.step, SERVICES[change.service], level, text))
        lines.sort(key=_STEP_OF)
        return tuple(lines)

    @cached_property
    def _first_alerts(self) -> tuple[Alert, ...]:
        dice = Dice(key_of(self._key, "alerts"))
        alerts = [
            Alert(0, line.service, line.level, line.write(dice, self._marks))
            for line in self._symptoms.alerts
        ]
        return tuple(dice.shuffled(alerts))

    def alerts(self, state: ClassicState) -> tuple[Alert, ...]:
        """Alerts that are still firing: those of services that are not healthy."""
        alerts = [a for a in self._first_alerts if state.health[INDEX[a.service]]]
        for change in state.changes:
            if change.health and state.health[change.service]:
                severity, wordings = _CHANGE_ALERTS[change.health]
                text = self._worded(change, wordings)
                alerts.append(Alert(change.step, SERVICES[change.service], severity, text))
        return tuple(alerts)

    @cached_property
    def _trace_plan(self) -> _Timeline[TraceEntry]:
        hot = tuple(self._symptoms.strain)
        fleet = Fleet(Dice(key_of(self._key, "fleet")), hot, self._symptoms.deed)
        return _Timeline(fleet.history, [entry.step for entry in fleet.history], fleet.at)

    def trace(self, step: int) -> tuple[TraceEntry, ...]:
        return tuple(self._trace_plan.until(step))

    def _worded(self, change: HealthChange, wordings: tuple[str, ...]) -> str:
        draw = mix(self._key + (change.step * len(SERVICES) + change.service) * STRIDE)
        return wordings[draw % len(wordings)]


def _varied(strain: Strain, dice: Dice) -> Strain:
    """The same picture with other numbers: each gauge moves by up to 10 %, disks by 2 %."""
    cpu, memory, disk, latency, errors, growth = strain
    bits = dice.bits()
    return Strain(
        min(95, cpu + cpu * (bits % 21 - 10) // 100),  # leaves room for the jitter
        memory + memory * ((bits >> 12) % 21 - 10) // 100,
        min(99, disk + disk * ((bits >> 24) % 5 - 2) // 100),
        latency + latency * ((bits >> 36) % 21 - 10) // 100,
        errors + errors * ((bits >> 48) % 21 - 10) // 100,
        growth,
    )


def _healthy_at(changes: tuple[HealthChange, ...], service: int, step: int) -> bool:
    """Had the service recovered by then, and not failed again?"""
    healthy = False
    for change in changes:
        if change.service == service and change.step <= step:
            healthy = change.health is Health.HEALTHY
    return healthy


class ClassicSensors(NamedTuple):
    """The instruments at one step. What they show is computed on access."""

    scenery: Scenery
    state: ClassicState
    step: int

    def health(self) -> tuple[ServiceHealth, ...]:
        return tuple(map(ServiceHealth, SERVICES, self.state.health))

    def metrics(self) -> tuple[ServiceReading, ...]:
        return self.scenery.readings(self.state, self.step)

    def logs(self) -> tuple[LogLine, ...]:
        return self.scenery.logs(self.state, self.step)

    def alerts(self) -> tuple[Alert, ...]:
        return self.scenery.alerts(self.state)

    def trace(self) -> tuple[TraceEntry, ...]:
        return self.scenery.trace(self.step)
