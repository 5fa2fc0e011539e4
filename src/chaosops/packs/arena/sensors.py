"""What the instruments of an arena company show, computed when somebody reads them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from chaosops.core.telemetry import Alert, LogLine, ServiceHealth, ServiceReading, TraceEntry
from chaosops.core.vocabulary import Health
from chaosops.packs.arena.company import Company
from chaosops.packs.arena.mechanism import Mechanism, Shows
from chaosops.packs.arena.physics import MAX_ERROR, health
from chaosops.packs.arena.scenery import Scenery, written
from chaosops.packs.arena.state import CompanyState

_WINDOW = 4  # minutes of logs on the screen
_DOWNSTREAM = (
    "call to {callee} failed",
    "slow answer from {callee}",
    "{callee} timed out, retried",
)


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

    @cached_property
    def _services(self) -> tuple[ServiceHealth, ...]:
        return tuple(map(ServiceHealth, self.company.services, self._health))

    def health(self) -> tuple[ServiceHealth, ...]:
        return self._services

    def metrics(self) -> tuple[ServiceReading, ...]:
        flow, company = self.state.flow, self.company
        stocks: dict[int, tuple[str, float]] = {}
        for name, target, severity, _ in self.state.faults:
            mechanism = self.mechanisms[name]
            if mechanism.stock:
                for place in mechanism.shows_at(company, target):
                    stocks[place] = (mechanism.stock, severity)
        readings = []
        for i, (service, state) in enumerate(zip(company.services, self._health, strict=True)):
            stock, level = stocks.get(i, ("", 0.0))
            memory, disk = self.scenery.usual_gauges[i]
            replicas = self.state.replicas[i]
            if replicas == company.replicas[i]:  # the team has not scaled it
                replicas = self.scenery.replicas[i]
            readings.append(
                ServiceReading(
                    service,
                    state,
                    replicas,
                    min(100, round(100 * flow.utilisation[i])),
                    memory + (round(1800 * level) if stock == "memory" else 0),
                    min(100, disk + (round(62 * level) if stock == "disk" else 0)),
                    round(flow.latency[i]),
                    round(100 * flow.errors[i], 1),
                )
            )
        return tuple(readings)

    def logs(self) -> tuple[LogLine, ...]:
        sick = [i for i, state in enumerate(self._health) if state]
        lines: list[LogLine] = []
        for minute in range(self.step - _WINDOW + 1, self.step + 1):
            noise, bits = self.scenery.minute(minute)
            lines += noise
            lines += self._complaints(minute, sick, bits)
            lines += self._downstream(minute, sick, bits)
        return tuple(lines)

    def _complaints(self, minute: int, sick: list[int], bits: tuple[int, ...]) -> list[LogLine]:
        """What the services write where a fault shows."""
        lines = []
        for name, target, *_ in self.state.faults:
            mechanism = self.mechanisms[name]
            for place in mechanism.shows_at(self.company, target):
                drawn = bits[place]
                if place in sick and drawn % 3:
                    wording = mechanism.logs[(drawn >> 8) % len(mechanism.logs)]
                    level = "ERROR" if drawn & 64 else "WARN"
                    service = self.company.services[place]
                    lines.append(LogLine(minute, service, level, written(wording, drawn >> 16)))
        return lines

    def _downstream(self, minute: int, sick: list[int], bits: tuple[int, ...]) -> list[LogLine]:
        """Callers complain about what they call, whoever is to blame."""
        company = self.company
        lines = []
        for i in sick:
            troubled = [callee for callee in company.callees(i) if callee in sick]
            drawn = bits[i] >> 32
            if troubled and drawn % 2:
                callee = company.services[troubled[(drawn >> 4) % len(troubled)]]
                text = _DOWNSTREAM[(drawn >> 8) % len(_DOWNSTREAM)].format(callee=callee)
                lines.append(LogLine(minute, company.services[i], "WARN", text))
        return lines

    def alerts(self) -> tuple[Alert, ...]:
        return self._alerts

    @cached_property
    def _alerts(self) -> tuple[Alert, ...]:
        flow, company = self.state.flow, self.company
        suspects = self._seen_from()
        alerts = []
        for i, state in enumerate(self._health):
            if not state:
                continue
            if flow.errors[i] > MAX_ERROR:
                text = f"errors {round(100 * flow.errors[i])}%"
            else:
                text = f"latency {round(flow.latency[i])}ms, objective {round(self.promised[i])}ms"
            caller, callee = suspects.get(i, (None, None))
            for words, other, usual in (
                ("most on calls from", caller, self._main_caller(i)),
                ("slowest call to", callee, self._slowest_callee(i)),
            ):
                place = usual if other is None else other
                if place is not None:
                    text += f", {words} {company.services[place]}"
            severity = "page" if state is Health.CRITICAL else "warn"
            alerts.append(Alert(self.step, company.services[i], severity, text))
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

    def _main_caller(self, place: int) -> int | None:
        """The caller that sends most."""
        company = self.company
        sends = {
            caller: company.load[caller] * call.fanout
            for caller in company.callers(place)
            for call in company.calls[caller]
            if call.callee == place
        }
        return max(sends, key=lambda caller: (sends[caller], -caller)) if sends else None

    def _slowest_callee(self, place: int) -> int | None:
        latency = self.state.flow.latency
        waits = {
            call.callee: call.weight * latency[call.callee] for call in self.company.calls[place]
        }
        return max(waits, key=lambda callee: (waits[callee], -callee)) if waits else None

    def trace(self) -> tuple[TraceEntry, ...]:
        return self.scenery.trace(self.step, self.state.quarantined)
