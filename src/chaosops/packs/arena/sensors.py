"""What the instruments of an arena company show, computed when somebody reads them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache

from chaosops.core.telemetry import Alert, LogLine, ServiceHealth, ServiceReading, TraceEntry
from chaosops.core.vocabulary import Health
from chaosops.packs.arena.company import Company
from chaosops.packs.arena.mechanism import Mechanism, Shows
from chaosops.packs.arena.physics import MAX_ERROR, health
from chaosops.packs.arena.scenery import Scenery, written
from chaosops.packs.arena.state import CompanyState

_WINDOW = 4  # minutes of logs on the screen
# What stands before and after the name of a callee.
_DOWNSTREAM = (("call to ", " failed"), ("slow answer from ", ""), ("", " timed out, retried"))


# Companies share the names of services, and every turn reads the health of all of them.
_service_health = lru_cache(maxsize=1 << 12)(ServiceHealth)


class ArenaSensors:
    """Readings are computed once, when they are first asked for."""

    def __init__(
        self,
        scenery: Scenery,
        company: Company,
        promised: tuple[float, ...],
        mechanisms: Mapping[str, Mechanism],
        state: CompanyState,
        step: int,
    ) -> None:
        self.scenery = scenery
        self.company = company
        self.promised = promised
        self.mechanisms = mechanisms
        self.state = state
        self.step = step

    @cached_property
    def _health(self) -> tuple[Health, ...]:
        return health(self.state.flow, self.promised)

    def health(self) -> tuple[ServiceHealth, ...]:
        return tuple(map(_service_health, self.company.services, self._health))

    def metrics(self) -> tuple[ServiceReading, ...]:
        return tuple(map(self.reading, self.company.services))

    def reading(self, service: str) -> ServiceReading:
        i = self.company.services.index(service)
        _, utilisation, latency, errors, _ = self.state.flow
        memory, disk = self.scenery.usual_gauges[i]
        if i in self._filled:
            more_memory, more_disk = self._filled[i]
            memory, disk = memory + more_memory, min(100, disk + more_disk)
        replicas = self.state.replicas[i]
        if replicas == self.company.replicas[i]:  # unless the team has scaled it
            replicas = self.scenery.replicas[i]
        return ServiceReading(
            service,
            self._health[i],
            replicas,
            min(100, round(100 * utilisation[i])),
            memory,
            disk,
            round(latency[i]),
            round(100 * errors[i], 1),
        )

    @cached_property
    def _filled(self) -> dict[int, tuple[int, int]]:
        """Where faults fill a stock: how much more memory and disk is in use."""
        found: dict[int, tuple[int, int]] = {}
        for name, target, level, _ in self.state.faults:
            mechanism = self.mechanisms[name]
            if mechanism.stock:
                more = (
                    (round(1800 * level), 0)
                    if mechanism.stock == "memory"
                    else (0, round(62 * level))
                )
                found |= dict.fromkeys(mechanism.shows_at(self.company, target), more)
        return found

    def logs(self) -> tuple[LogLine, ...]:
        sick = [i for i, state in enumerate(self._health) if state]
        complaining, troubled = self._complaining(sick), self._troubled(sick)
        services = self.company.services
        lines: list[LogLine] = []
        for minute in range(self.step - _WINDOW + 1, self.step + 1):
            drawn = self.scenery.minute(minute)
            lines += drawn.noise
            for place, wordings in complaining:
                bits = drawn.of(place)
                if bits % 3:
                    level = "ERROR" if bits & 64 else "WARN"
                    text = written(wordings[(bits >> 8) % len(wordings)], bits >> 16)
                    lines.append(LogLine(minute, services[place], level, text))
            # Callers complain about what they call, whoever is to blame.
            for place, callees in troubled:
                bits = drawn.of(place) >> 32
                if bits % 2:
                    before, after = _DOWNSTREAM[(bits >> 8) % len(_DOWNSTREAM)]
                    callee = services[callees[(bits >> 4) % len(callees)]]
                    text = f"{before}{callee}{after}"
                    lines.append(LogLine(minute, services[place], "WARN", text))
        return tuple(lines)

    def _complaining(self, sick: list[int]) -> list[tuple[int, tuple[str, ...]]]:
        """Where a fault shows, and what services write there."""
        found = []
        for name, target, *_ in self.state.faults:
            mechanism = self.mechanisms[name]
            places = mechanism.shows_at(self.company, target)
            found += [(place, mechanism.logs) for place in places if place in sick]
        return found

    def _troubled(self, sick: list[int]) -> list[tuple[int, list[int]]]:
        """Failing services, and the failing ones that they call."""
        callees_of = self.company.callees_of
        found = [(i, [callee for callee in callees_of[i] if callee in sick]) for i in sick]
        return [(i, callees) for i, callees in found if callees]

    def alerts(self) -> tuple[Alert, ...]:
        return self._alerts

    @cached_property
    def _alerts(self) -> tuple[Alert, ...]:
        flow, services = self.state.flow, self.company.services
        latency, errors = flow.latency, flow.errors
        suspects = self._seen_from()
        alerts = []
        for i, state in enumerate(self._health):
            if not state:
                continue
            if errors[i] > MAX_ERROR:
                text = f"errors {round(100 * errors[i])}%"
            else:
                text = f"latency {round(latency[i])}ms, objective {round(self.promised[i])}ms"
            caller, callee = suspects.get(i, (None, None))
            if caller is None:
                caller = self.company.main_caller[i]
            if callee is None:
                callee = self._slowest_callee(i)
            if caller is not None:
                text += f", most on calls from {services[caller]}"
            if callee is not None:
                text += f", slowest call to {services[callee]}"
            severity = "page" if state is Health.CRITICAL else "warn"
            since = self.state.failing[i]
            alerts.append(Alert(self.step if since is None else since, services[i], severity, text))
        return tuple(alerts)

    def _seen_from(self) -> dict[int, tuple[int | None, int | None]]:
        """Where a fault shows elsewhere, the calls that suffer: (caller, callee)."""
        found: dict[int, tuple[int | None, int | None]] = {}
        for name, target, *_ in self.state.faults:
            mechanism = self.mechanisms[name]
            if mechanism.shows is not Shows.HERE:
                below = mechanism.shows is Shows.BELOW
                for place in mechanism.shows_at(self.company, target):
                    found[place] = (target, None) if below else (None, target)
        return found

    def _slowest_callee(self, place: int) -> int | None:
        latency = self.state.flow.latency
        slowest, longest = None, 0.0
        for callee, _, weight in self.company.calls[place]:
            wait = weight * latency[callee]
            if wait > longest:
                slowest, longest = callee, wait
        return slowest

    def trace(self) -> tuple[TraceEntry, ...]:
        return self.scenery.trace(self.step, self.state.quarantined)

    def history(self) -> tuple[TraceEntry, ...]:
        """The trace from before the incident."""
        return self.scenery.history
