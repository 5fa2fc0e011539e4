"""Health, alerts and logs of the company, from the reports of its processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from chaosops.core.printable import one_line
from chaosops.core.telemetry import Alert, LogLine, ServiceReading
from chaosops.core.vocabulary import Health
from chaosops.live.objectives import ERROR_BUDGET, SLOW_BUDGET
from chaosops.live.topology import SERVICES, SPECS, USERS
from chaosops.live.window import NOTHING_SEEN, SHORT_S, Seen, Window

# Burn rates from which on a service is not well, and from which on its alert is a page.
_ERRORS_BURN, _PAGE_BURN = 3.0, 25.0
_SLOW_BURN = 1.0
_CRITICAL_LATENCY = 3.0  # objectives
_FEWEST_ERRORS = 3  # a single failure is no incident, however few requests there are
_FEWEST_REQUESTS = 5
_FEWEST_SECONDS = 2.0
SICK_AFTER_S = 2.0
WELL_AFTER_S = 1.0
CALM_MB = 400
"""Memory is shown on the scale of the arena: a service that uses as much as when all was well shows
this."""
_MINUTES_OF_LOGS = 4
_MOST_LINES = 40
_LONGEST_LINE = 300
_ALIKE = 2  # lines of a service in a minute that differ in numbers alone


class _Line(NamedTuple):
    minute: int | None
    """None until somebody looks: a line belongs to the minute that ends then."""
    service: str
    level: str
    text: str


class Collector:
    def __init__(self, objectives: Mapping[str, float]) -> None:
        self.objectives = objectives
        self.window = Window()
        self.minute = -30
        self.served = self.lost = 0
        self.begin: float | None = None
        self._seen: dict[str, Seen] = {}
        self._usual_mb: dict[str, float] = {}
        self._health = dict.fromkeys(SPECS, Health.HEALTHY)
        self._sick_since: dict[str, int] = {}  # by service, the minute of its alert
        self._since: dict[str, tuple[Health, float]] = {}
        self._gauges: dict[tuple[str, int], Mapping[str, float]] = {}
        self._lines: deque[_Line] = deque(maxlen=600)
        self._failing: dict[str, bool] = {}
        """Whether the alert of a service is about errors, and not about latency."""

    def add(self, report: Mapping[str, Any], now: float) -> None:
        service, slot = report["who"]
        if "lag_ms" in report["gauges"]:
            self.window.note_lag(report["gauges"]["lag_ms"], now)
            return
        self.window.add(report, now)
        self._gauges[service, slot] = report["gauges"]
        for level, text in report["lines"]:
            if service in SPECS:
                self._lines.append(_Line(None, service, level, one_line(text)[:_LONGEST_LINE]))
        if service == USERS:
            for count, errors, *_ in report["calls"].values():
                self.served += count
                self.lost += errors

    def forget(self, service: str, slot: int) -> None:
        self.window.forget(service, slot)
        self._gauges.pop((service, slot), None)

    def is_blind(self, now: float) -> bool:
        """Nothing can be said of the last seconds."""
        return self.window.covered_s(now) < _FEWEST_SECONDS

    def tick(self, now: float) -> None:
        """Judge all services. A verdict has to hold for some time before it counts."""
        self.begin = now if self.begin is None else self.begin
        if self.is_blind(now):
            return
        self._seen = self.window.seen(now, self.objectives)
        short = self.window.seen(now, self.objectives, SHORT_S)
        for name, seen in self._seen.items():
            verdict = self._verdict(name, seen)
            if not self._health[name] and not (_fails(short[name]) or _drags(short[name])):
                verdict = Health.HEALTHY  # it is over already
            before, since = self._since.get(name, (verdict, now))
            if (before > Health.HEALTHY) != (verdict > Health.HEALTHY):
                since = now
            self._since[name] = verdict, since
            needed = SICK_AFTER_S if verdict else WELL_AFTER_S
            same_side = bool(self._health[name]) == bool(verdict)
            if same_side or now - since >= needed:
                if verdict and not self._health[name]:
                    self._sick_since[name] = self.minute
                self._health[name] = verdict

    def _verdict(self, name: str, seen: Seen) -> Health:
        """The worse of errors and latency. Which of them it is stays the reason of the alert, also
        while it ends."""
        errors = latency = Health.HEALTHY
        if seen.errors >= _FEWEST_ERRORS and _fails(seen):
            bad = seen.error_share > _PAGE_BURN * ERROR_BUDGET
            errors = Health.CRITICAL if bad else Health.DEGRADED
        if seen.calls + seen.slow >= _FEWEST_REQUESTS and _drags(seen):
            bad = seen.p90_ms > _CRITICAL_LATENCY * self.objectives[name]
            latency = Health.CRITICAL if bad else Health.DEGRADED
        if errors or latency:
            self._failing[name] = bool(errors)
        return max(errors, latency)

    @property
    def health(self) -> Mapping[str, Health]:
        return self._health

    def root(self) -> list[str]:
        """Sick services none of whose callees are sick."""
        sick = [spec for spec in SERVICES if self._health[spec.name]]
        return [one.name for one in sick if not any(self._health[name] for name in one.calls)]

    def note_calm(self) -> None:
        """The company is running: what its processes use now is their usual memory."""
        self._usual_mb = {name: self._memory_mb(name) for name in SPECS}

    def _memory_mb(self, name: str) -> float:
        """Of one replica, on average."""
        found = [one.get("memory_mb", 0.0) for key, one in self._gauges.items() if key[0] == name]
        return sum(found) / len(found) if found else 0.0

    def readings(self, counts: Mapping[str, int]) -> tuple[ServiceReading, ...]:
        return tuple(self._reading(spec.name, counts[spec.name]) for spec in SERVICES)

    def _reading(self, name: str, replicas: int) -> ServiceReading:
        gauges = [found for (service, _), found in self._gauges.items() if service == name]
        seen = self._seen.get(name, NOTHING_SEEN)
        busy = sum(one.get("busy", 0.0) for one in gauges) / max(1, len(gauges))
        return ServiceReading(
            name,
            self._health[name],
            replicas,
            min(100, round(100 * busy)),
            round(CALM_MB * self._memory_mb(name) / (self._usual_mb.get(name) or CALM_MB)),
            min(100, round(max((one.get("disk_pct", 0.0) for one in gauges), default=0.0))),
            round(seen.p90_ms),
            round(100 * seen.error_share, 1),
        )

    def alerts(self, now: float) -> tuple[Alert, ...]:
        return tuple(self._alert(spec.name, now) for spec in SERVICES if self._health[spec.name])

    def _alert(self, name: str, now: float) -> Alert:
        """In the words of the arena."""
        seen = self._seen[name]
        if self._failing.get(name):
            text, by = f"errors {round(100 * seen.error_share)}%", seen.errors_by
        else:
            objective = self.objectives[name]
            text = f"latency {seen.p90_ms:.0f}ms, objective {objective:.0f}ms"
            by = seen.slow_by
        callers = {caller: count for caller, count in by.items() if caller in SPECS}
        if callers:
            text += f", most on calls from {max(callers, key=lambda one: callers[one])}"
        calls = {
            callee: found.p90_ms
            for callee, found in self.window.calls_of(name, now).items()
            if callee in SPECS
        }
        if calls:
            text += f", slowest call to {max(calls, key=lambda one: calls[one])}"
        severity = "page" if self._health[name] is Health.CRITICAL else "warn"
        return Alert(self._sick_since[name], name, severity, text)

    def logs(self) -> tuple[LogLine, ...]:
        """The lines of the last minutes, without too many of a kind."""
        for i, line in enumerate(self._lines):
            if line.minute is None:
                self._lines[i] = line._replace(minute=self.minute)
        known: dict[tuple[int, str, str], int] = {}
        kept: list[LogLine] = []
        for line in reversed(self._lines):
            if line.minute is None or line.minute <= self.minute - _MINUTES_OF_LOGS:
                break
            key = line.minute, line.service, "".join(c for c in line.text if not c.isdigit())
            known[key] = known.get(key, 0) + 1
            if known[key] <= _ALIKE:
                kept.append(LogLine(line.minute, line.service, line.level, line.text))
            if len(kept) == _MOST_LINES:
                break
        return tuple(reversed(kept))

    def seconds(self, now: float) -> tuple[float, float]:
        """How long it has watched, and how much of that is void."""
        watched = 0.0 if self.begin is None else now - self.begin
        return round(watched, 1), round(self.window.void_s, 1)


def _fails(seen: Seen) -> bool:
    return seen.error_share > _ERRORS_BURN * ERROR_BUDGET


def _drags(seen: Seen) -> bool:
    return seen.slow_share > _SLOW_BURN * SLOW_BUDGET
