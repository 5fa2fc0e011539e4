"""The last seconds of all calls, as their callers saw them, without the seconds that the host
disturbed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from chaosops.live.reports import INTERVAL_S

WINDOW_S, SHORT_S = 4.0, 1.2
"""Of alerts. What the long window shows is over where the short one shows nothing of it."""
LAG_LIMIT_MS = 60.0
"""The canary slept so much too long: the host was busy with something else."""
DELAY_LIMIT_MS = 2000.0
"""In half a second, the processes of the company together waited so long for their core. Alone on
it they wait for 50 to 150 ms."""
VOID_SHARE = 0.2
"""Of the seconds: where more are void, the host was measured and not the company."""
_AFTERMATH_S = 1.0  # requests that were in flight end late too
_KEPT_S = 15.0
_MOST_HEARD = 1500


class Sample(NamedTuple):
    at: float
    caller: str
    callee: str
    calls: int
    errors: int
    durations: list[int]


class Seen(NamedTuple):
    """What callers saw of a service in a window."""

    calls: int
    errors: int
    timed: int
    """Requests whose duration counts, those in flight that are late already among them."""
    slow: int
    """Those of them that took longer than the objective."""
    p90_ms: float
    errors_by: Mapping[str, int]
    """By caller."""
    slow_by: Mapping[str, int]

    @property
    def error_share(self) -> float:
        return self.errors / self.calls if self.calls else 0.0

    @property
    def slow_share(self) -> float:
        return self.slow / self.timed if self.timed else 0.0


NOTHING_SEEN = Seen(0, 0, 0, 0, 0.0, {}, {})


class Window:
    def __init__(self) -> None:
        self._samples: deque[Sample] = deque()
        self._heard: deque[float] = deque(maxlen=_MOST_HEARD)
        self._pending: dict[tuple[str, int], Mapping[str, list[int]]] = {}
        self._void: deque[tuple[float, float]] = deque()
        self._delays: dict[int, float] = {}
        self.void_s = 0.0
        """Of the seconds so far, those that do not count."""
        self._void_until = 0.0

    def add(self, report: Mapping[str, Any], now: float) -> None:
        service, slot = report["who"]
        self._note_delay(report["delay_ms"], now)
        calls = report["calls"]
        self._heard.append(now)
        self._pending[service, slot] = {name: one[3] for name, one in calls.items() if one[3]}
        for callee, (count, errors, durations, _) in calls.items():
            if count:
                self._samples.append(Sample(now, service, callee, count, errors, durations))
        while self._samples and self._samples[0].at < now - _KEPT_S:
            self._samples.popleft()

    def forget(self, service: str, slot: int) -> None:
        """A process has ended, with all its calls."""
        self._pending.pop((service, slot), None)

    def _note_delay(self, delay_ms: float, now: float) -> None:
        interval = int(now / INTERVAL_S)
        before = self._delays.get(interval, 0.0)
        if not before:
            self._delays = {interval - 1: self._delays.get(interval - 1, 0.0)}
        self._delays[interval] = before + delay_ms
        if before <= DELAY_LIMIT_MS < before + delay_ms:
            self._spoil(now)

    def note_lag(self, lag_ms: float, now: float) -> None:
        if lag_ms > LAG_LIMIT_MS:
            self._spoil(now)

    def _spoil(self, now: float) -> None:
        begin, end = now - INTERVAL_S - 0.1, now + _AFTERMATH_S
        self.void_s += end - max(begin, self._void_until)  # lag and delay often come together
        self._void_until = end
        self._void.append((begin, end))
        while self._void and self._void[0][1] < now - _KEPT_S:
            self._void.popleft()

    def is_void(self, at: float) -> bool:
        return any(begin <= at < end for begin, end in self._void)

    def covered_s(self, now: float) -> float:
        """How much of the window is filled. It is less where most of the last seconds are void."""
        moments = [at for at in self._heard if at > now - _KEPT_S and not self.is_void(at)]
        gaps = (later - at for at, later in pairwise(moments))
        return sum(gap for gap in gaps if gap < 2 * INTERVAL_S)

    def _recent(self, now: float, length_s: float = WINDOW_S) -> Iterable[Sample]:
        """The samples of the last seconds that count, newest first, going back further where some
        are void."""
        left = length_s
        last = now
        for sample in reversed(self._samples):
            if self.is_void(sample.at):
                last = sample.at
                continue
            left -= last - sample.at
            last = sample.at
            if left < 0:
                return
            yield sample

    def seen(
        self, now: float, objectives: Mapping[str, float], length_s: float = WINDOW_S
    ) -> dict[str, Seen]:
        """All services that have an objective."""
        samples: dict[str, list[Sample]] = {name: [] for name in objectives}
        for sample in self._recent(now, length_s):
            if sample.callee in samples:
                samples[sample.callee].append(sample)
        return {
            name: _joined(found, self._overdue(name, objectives[name]), objectives[name])
            for name, found in samples.items()
        }

    def calls_of(self, service: str, now: float) -> dict[str, Seen]:
        """What one service saw of those that it calls."""
        found = [one for one in self._recent(now) if one.caller == service]
        return {
            name: _joined([one for one in found if one.callee == name], (), float("inf"))
            for name in {one.callee for one in found}
        }

    def _overdue(self, callee: str, objective: float) -> list[tuple[str, int]]:
        """Calls in flight that have taken longer than the objective already."""
        return [
            (caller, age)
            for (caller, _), ages in self._pending.items()
            for age in ages.get(callee, ())
            if age > objective
        ]


def _joined(samples: list[Sample], overdue: Iterable[tuple[str, int]], objective: float) -> Seen:
    durations: list[int] = []
    errors_by: dict[str, int] = {}
    slow_by: dict[str, int] = {}
    count = errors = 0
    for _, caller, _, calls, failed, took in samples:
        count += calls
        errors += failed
        durations += took
        if failed:
            errors_by[caller] = errors_by.get(caller, 0) + failed
        slow = sum(ms > objective for ms in took)
        if slow:
            slow_by[caller] = slow_by.get(caller, 0) + slow
    for caller, age in overdue:
        durations.append(age)
        slow_by[caller] = slow_by.get(caller, 0) + 1
    slow = sum(slow_by.values())
    p90_ms = percentile(durations, 90)
    return Seen(count, errors, len(durations), slow, p90_ms, errors_by, slow_by)


def percentile(values: list[int], share: int) -> float:
    """The smallest value that so many percent do not exceed.

    >>> percentile([5, 1, 4, 2, 3, 9, 6, 7, 8, 100], 90), percentile([], 90)
    (9.0, 0.0)
    """
    if not values:
        return 0.0
    ordered = sorted(values)
    return float(ordered[max(0, -(-len(ordered) * share // 100) - 1)])
