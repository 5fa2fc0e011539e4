"""Observations as JSON: between processes, and in recordings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from chaosops.core.telemetry import Alert, LogLine, ServiceReading, TraceEntry
from chaosops.core.vocabulary import Health
from chaosops.live.platform import LoggedChange, Observation


def observation_to_wire(seen: Observation) -> dict[str, Any]:
    return {
        "readings": [[one.service, one.health.value, *one[2:]] for one in seen.readings],
        "alerts": [list(one) for one in seen.alerts],
        "logs": [list(one) for one in seen.logs],
        "feed": [list(one) for one in seen.feed],
        "served": seen.served,
        "lost": seen.lost,
        "seconds": seen.seconds,
        "void_seconds": seen.void_seconds,
        "blind": seen.blind,
    }


def observation_from_wire(wire: dict[str, Any]) -> Observation:
    return Observation(
        tuple(ServiceReading(one[0], Health(one[1]), *one[2:]) for one in wire["readings"]),
        tuple(Alert(*one) for one in wire["alerts"]),
        tuple(LogLine(*one) for one in wire["logs"]),
        tuple(TraceEntry(*one) for one in wire["feed"]),
        wire["served"],
        wire["lost"],
        wire["seconds"],
        wire["void_seconds"],
        wire["blind"],
    )


def change_to_wire(change: LoggedChange) -> dict[str, Any]:
    return asdict(change)
