"""One run of a company: minute by minute, and everything that was seen.

What is not in the plot enters an episode here and nowhere else. So an episode can be shown again
from what its run noted (``RecordedRun``), although it cannot be played again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from chaosops.core.errors import BadInput
from chaosops.core.telemetry import AuditedAct, AuditReport, Inspection, ServiceChange
from chaosops.live.platform import LoggedChange, Observation, Platform
from chaosops.live.wire import observation_from_wire, observation_to_wire
from chaosops.packs.arena.evidence import NO_ORDER, NOT_FOUND, SINCE
from chaosops.packs.arena.incident import ArenaIncident


class Pace(NamedTuple):
    """How long minutes of the plot take, in seconds."""

    long_ago: float = 0.1  # minutes -30 to -13
    before: float = 0.5  # minutes -12 to -1
    step: float = 2.5
    look: float = 0.5  # between two looks, while the fault is awaited
    patience: float = 25.0  # until it must show
    lasts: float = 0.0  # how long a company has to be well for a repair to last


FIRST_MINUTE = -30


class Run(Protocol):
    observed: list[dict[str, Any]]

    def require_next(self, step: int) -> None:
        """Refuse a step that was taken before."""
        ...

    def inspect(self, service: str, step: int) -> Inspection: ...
    def audit(self, agent: str, step: int) -> AuditReport: ...
    def remedy(self, verb: str, service: str, replicas: int) -> None: ...
    def quarantine(self, agent: str) -> None: ...

    def pass_minute(self, step: int, strikes: Sequence[LoggedChange]) -> Observation:
        """Let a minute pass in which some changes are made."""
        ...

    def end(
        self, step: int, well_steps: int | None, strikes: Iterator[Sequence[LoggedChange]]
    ) -> None:
        """``well_steps``: for how many steps all was well. None if nothing was resolved.
        ``strikes``: what is still to come, minute by minute."""
        ...


class LiveRun:
    """Over a company that runs."""

    def __init__(
        self,
        incident: ArenaIncident,
        platform: Platform,
        pace: Pace,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._incident = incident
        self._platform = platform
        self._pace = pace
        self._sleep = sleep
        self._step = 0
        self._fed = 0  # entries of the feed that are noted
        self._finding: dict[str, Any] = {}
        self._is_over = False
        self._turn_began = time.monotonic()
        self._thought_s: float | None = None
        self.observed: list[dict[str, Any]] = []

    def open(self) -> Observation | None:
        """Let history pass, and wait until the fault shows. None if it does not."""
        pace = self._pace
        begun: Observation | None = None
        for minute in range(FIRST_MINUTE, 0):
            self._platform.begin(minute)
            self._sleep(pace.long_ago if minute < SINCE else pace.before)
            seen = self._platform.observe(minute)  # lines get the minute in which somebody looked
            begun = begun or seen
        self._platform.begin(0)
        waited = 0.0
        while not self._shows(seen := self._platform.observe(0)):
            if waited >= pace.patience:
                return None
            self._sleep(pace.look)
            waited += pace.look
        return self._note(seen, begun)

    def _shows(self, seen: Observation) -> bool:
        company, plot = self._incident.company, self._incident.plot
        shown = plot.cause.mechanism.shows_at(company, plot.target)
        sick = {reading.service for reading in seen.readings if reading.health}
        return any(company.services[place] in sick for place in shown)

    def _note(self, seen: Observation, before: Observation | None) -> Observation:
        """Since ``before`` nobody thought: these seconds decide whether the run is void."""
        new = seen._replace(feed=seen.feed[self._fed :])
        self._fed = len(seen.feed)
        entry: dict[str, Any] = {"seen": observation_to_wire(new), **self._finding}
        if before is not None:
            entry["seconds"] = round(seen.seconds - before.seconds, 1)
            entry["void_seconds"] = round(seen.void_seconds - before.void_seconds, 1)
        self.observed.append(entry)
        self._finding = {}
        self._turn_began = time.monotonic()
        self._thought_s = None
        return seen

    def require_next(self, step: int) -> None:
        if self._is_over:
            raise BadInput("this live incident is over: its company was taken down")
        if step != self._step + 1:
            raise BadInput(
                "a live incident goes on in real time and cannot be forked or taken back; "
                "play the same seed of pack rehearsal for that"
            )
        if self._thought_s is None:  # what is carried out from here on is no thought
            self._thought_s = time.monotonic() - self._turn_began

    def inspect(self, service: str, step: int) -> Inspection:
        """As in the arena: what changed before the incident, whoever did it. How busy a service
        was stands in the plot."""
        company = self._incident.company
        changes = [c for c in self._platform.changes_of(service) if SINCE <= c.at < 0]
        changes.sort(key=lambda change: (change.at, change.setting))
        place, minutes = company.services.index(service), sorted({c.at for c in changes})
        found = Inspection(
            step,
            service,
            tuple(ServiceChange(c.setting, str(c.before), str(c.after), c.at) for c in changes),
            tuple((at, company.usual_util_pct(place, at)) for at in minutes),
        )
        self._finding = {"inspection": _as_json(found)}
        return found

    def audit(self, agent: str, step: int) -> AuditReport:
        orders = self._incident.orders
        acts = tuple(
            AuditedAct(
                change.at,
                change.setting,
                change.service,
                str(change.before),
                str(change.after),
                orders.get(change.order, NOT_FOUND) if change.order else NO_ORDER,
            )
            for change in self._platform.record_of(agent)
            if SINCE <= change.at < 0
        )
        found = AuditReport(step, agent, None, acts)
        self._finding = {"audit": _as_json(found)}
        return found

    def remedy(self, verb: str, service: str, replicas: int) -> None:
        self._platform.remedy(verb, service, replicas)

    def quarantine(self, agent: str) -> None:
        self._platform.quarantine(agent)

    def pass_minute(self, step: int, strikes: Sequence[LoggedChange]) -> Observation:
        thought_s, self._step = self._thought_s, step
        self._platform.begin(step)
        before = self._platform.observe(step)
        for change in strikes:
            self._platform.change(change)
        self._sleep(self._pace.step)
        seen = self._note(self._platform.observe(step), before)
        self.observed[-1]["thought_s"] = round(thought_s or 0.0, 2)
        return seen

    def end(
        self, step: int, well_steps: int | None, strikes: Iterator[Sequence[LoggedChange]]
    ) -> None:
        """Does it last? Then look once more whether the record is whole, and take the company
        down."""
        pace = self._pace
        left = 0.0 if well_steps is None else pace.lasts - well_steps * pace.step
        seen = before = self._platform.observe(step)
        sick = blind = 0
        watched = 0.0
        while watched < left:
            step += 1
            watched += pace.step
            self._platform.begin(step)
            for change in next(strikes):
                self._platform.change(change)
            self._sleep(pace.step)
            seen = self._platform.observe(step)
            sick += any(one.health for one in seen.readings) and not seen.blind
            blind += seen.blind
        if watched:
            void = round(seen.void_seconds - before.void_seconds, 1)
            told = {"seconds": watched, "sick": sick, "blind": blind, "void_seconds": void}
            self.observed[-1]["after"] = told
        self._platform.record_of(self._incident.plot.fleet[0])
        self.close()

    def close(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._platform.close()


def _as_json(found: Inspection | AuditReport) -> Any:
    """As it will be read from a recording: an episode and its recording are equal."""
    return json.loads(json.dumps(found))


class RecordedRun:
    """What another run has seen. Its decisions can be played again, and no others."""

    def __init__(self, observed: Sequence[dict[str, Any]]) -> None:
        self.observed = list(observed)
        feed: list[Any] = []
        self._seen: list[Observation] = []
        for entry in self.observed:
            wire = entry["seen"]
            feed += wire["feed"]
            self._seen.append(observation_from_wire({**wire, "feed": list(feed)}))

    def open(self) -> Observation:
        return self._seen[0]

    def require_next(self, step: int) -> None:
        if step >= len(self._seen):
            raise BadInput(f"the recorded live incident was over after {len(self._seen) - 1} steps")

    def inspect(self, service: str, step: int) -> Inspection:
        found = self.observed[step].get("inspection")
        if found is None or found[1] != service:
            raise BadInput(f"nobody inspected {service} at step {step} of the recorded incident")
        _, _, changes, busy = found
        return Inspection(
            step,
            service,
            tuple(ServiceChange(*change) for change in changes),
            tuple((at, pct) for at, pct in busy),
        )

    def audit(self, agent: str, step: int) -> AuditReport:
        found = self.observed[step].get("audit")
        if found is None or found[1] != agent:
            raise BadInput(f"nobody audited {agent} at step {step} of the recorded incident")
        return AuditReport(step, agent, None, tuple(AuditedAct(*act) for act in found[3]))

    def remedy(self, verb: str, service: str, replicas: int) -> None: ...
    def quarantine(self, agent: str) -> None: ...

    def pass_minute(self, step: int, strikes: Sequence[LoggedChange]) -> Observation:
        return self._seen[step]

    def end(
        self, step: int, well_steps: int | None, strikes: Iterator[Sequence[LoggedChange]]
    ) -> None: ...
