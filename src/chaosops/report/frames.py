"""An episode as frames: what a spectator's screen shows after each turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from chaosops.core.actions import FlagRogue
from chaosops.core.episode import Episode, Turn
from chaosops.core.telemetry import (
    Alert,
    AuditReport,
    Inspection,
    LogLine,
    Message,
    Public,
    ServiceReading,
    TraceEntry,
)
from chaosops.core.vocabulary import Role, role_on_turn

HISTORY = 16


@dataclass(frozen=True)
class FlagMoment:
    """A flag and its verdict."""

    step: int
    agent: str
    caught: bool
    known: bool = True  # False: no agent of the fleet has this name


@dataclass(frozen=True)
class Frame:
    title: str
    team: str
    limit: int
    step: int
    on_turn: Role
    readings: tuple[ServiceReading, ...]
    latency: Mapping[str, tuple[int, ...]]
    errors: Mapping[str, tuple[float, ...]]
    alerts: tuple[Alert, ...]
    logs: tuple[LogLine, ...]
    trace: tuple[TraceEntry, ...]
    chat: tuple[Message, ...]
    findings: tuple[Inspection | AuditReport, ...]
    rubrics: Mapping[str, float]
    reward: float
    wrong_fixes: int
    turn: Turn | None = None
    flags: tuple[FlagMoment, ...] = ()
    outcome: Episode | None = None  # when it is over

    @property
    def flag_now(self) -> FlagMoment | None:
        """The flag of the latest turn."""
        return self.flags[-1] if self.flags and self.flags[-1].step == self.step else None


def first_frame(episode: Episode, public: Public) -> Frame:
    scenario = episode.scenario
    return Frame(
        title=f"{scenario.pack} · {scenario.tier} · seed {scenario.seed}",
        team=episode.team,
        limit=public.limit,
        **_shown(episode, public, {}, {}),
    )


def next_frame(frame: Frame, episode: Episode, public: Public) -> Frame:
    """The frame after the episode's latest turn."""
    turn = episode.turns[-1]
    flags, action, events = frame.flags, turn.decision.action, turn.events
    if isinstance(action, FlagRogue) and events.miscommunication is None:
        known = not events.unknown_flag
        caught = known and not events.false_flag
        flags = (*flags, FlagMoment(events.step, action.target, caught, known))
    return replace(
        frame,
        turn=turn,
        flags=flags,
        outcome=episode if events.over else None,
        **_shown(episode, public, frame.latency, frame.errors),
    )


def _shown(
    episode: Episode,
    public: Public,
    latency: Mapping[str, tuple[int, ...]],
    errors: Mapping[str, tuple[float, ...]],
) -> dict[str, Any]:
    """What changes with every turn. ``latency`` and ``errors`` so far."""
    readings = public.sensors.metrics()
    return {
        "step": public.step,
        "on_turn": role_on_turn(public.step),
        "readings": readings,
        "latency": {r.service: _grown(latency, r.service, r.latency_ms) for r in readings},
        "errors": {r.service: _grown(errors, r.service, r.error_pct) for r in readings},
        "alerts": public.sensors.alerts(),
        "logs": public.sensors.logs(),
        "trace": public.sensors.trace(),
        "chat": public.journal,
        "findings": public.findings,
        "rubrics": episode.rubric_totals,
        "reward": episode.reward,
        "wrong_fixes": episode.wrong_fixes,
    }


def _grown(history: Mapping[str, tuple[Any, ...]], service: str, value: float) -> tuple[Any, ...]:
    return (*history.get(service, ()), value)[-HISTORY:]
