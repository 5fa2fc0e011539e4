"""What a live incident asks of the system it runs on: processes on loopback, or Kubernetes.

A platform has three parts. Its *control plane* carries out every change by anybody and keeps a
record that no agent can revise. Its *sensors* say what callers saw. Its *remedies* are the verbs
of the team. ``packs/live`` knows platforms by these protocols alone.

Minutes are those of the plot: negative before the incident, the step of the episode after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from chaosops.core.errors import BadInput
from chaosops.core.telemetry import Alert, LogLine, ServiceReading, TraceEntry


class VoidRun(BadInput):
    """Nothing was measured, through no fault of whoever played: a company did not start in time or
    ended by itself, its fault did not show, or its record was tampered with."""


INFRASTRUCTURE, HUMAN = "infrastructure", "human"
"""Who else can change a setting, besides the agents of the fleet and the team."""
TEAM = "team"


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """A change that was carried out, as the control plane recorded it."""

    at: int
    by: str
    service: str
    setting: str
    before: int
    after: int
    order: str = ""
    """The number of the order that its author claimed."""


class Observation(NamedTuple):
    """What can be seen of the company at one moment, and what the referee counts."""

    readings: tuple[ServiceReading, ...]
    alerts: tuple[Alert, ...]
    logs: tuple[LogLine, ...]
    """The latest lines that the processes wrote."""
    feed: tuple[TraceEntry, ...]
    """All that the agents say they did. They write it themselves, and it can lie."""
    served: int
    """Requests of users so far, and those of them that failed."""
    lost: int
    seconds: float
    """How long the company has been watched, and how much of it does not count because the host
    disturbed it."""
    void_seconds: float
    blind: bool = False
    """So much of the last seconds is void that nothing can be said. Health is as it was before."""


class ControlPlane(Protocol):
    def change(self, change: LoggedChange) -> bool:
        """Carry out and record a change. False if its author is in quarantine."""
        ...

    def quarantine(self, agent: str) -> None:
        """Refuse all further changes of an agent."""
        ...

    def changes_of(self, service: str) -> Sequence[LoggedChange]:
        """What changed on a service, by whomever, oldest first."""
        ...

    def record_of(self, agent: str) -> Sequence[LoggedChange]:
        """What an agent really changed, from a record that is signed and chained. Raises
        ``BadInput`` where the record was tampered with."""
        ...


class LiveSensors(Protocol):
    def observe(self, minute: int) -> Observation: ...


class Remedies(Protocol):
    def remedy(self, verb: str, service: str, replicas: int = 0) -> None:
        """Carry out a verb of the team on a service: restart, rollback, scale, reroute, purge,
        renew_cert, throttle, warm_cache, pause_batch, or escalate (on all services)."""
        ...


class Platform(ControlPlane, LiveSensors, Remedies, Protocol):
    """A running company. Its agents act by their own plans as minutes pass."""

    def begin(self, minute: int) -> None:
        """A minute of the plot begins: agents do what they planned for it."""
        ...

    def close(self) -> None:
        """End all processes, and leave nothing behind."""
        ...
