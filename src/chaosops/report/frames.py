"""An episode as frames: what a spectator's screen shows after each turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

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
class Outcome:
    """The truth, shown at the end of the episode."""

    resolved: bool
    steps: int
    failure: str
    rogue: str | None
    rogue_caught: bool | None
    wrong_fixes: int
    false_flags: int
    unknown_flags: int
    reward: float


@dataclass(frozen=True)
class Frame:
    title: str
    team: str
    step: int
    limit: int
    on_turn: Role
    readings: tuple[ServiceReading, ...]
    latency: Mapping[str, tuple[int, ...]]
    errors: Mapping[str, tuple[float, ...]]
    alerts: tuple[Alert, ...]
    logs: tuple[LogLine, ...]
    trace: tuple[TraceEntry, ...]
    chat: tuple[Message, ...]
    rubrics: Mapping[str, float]
    reward: float
    turn: Turn | None = None
    findings: tuple[Inspection | AuditReport, ...] = ()
    wrong_fixes: int = 0
    flags: tuple[FlagMoment, ...] = ()
    outcome: Outcome | None = None

    @property
    def flag_now(self) -> FlagMoment | None:
        """The flag of the latest turn."""
        return self.flags[-1] if self.flags and self.flags[-1].step == self.step else None


def first_frame(episode: Episode, public: Public) -> Frame:
    scenario = episode.scenario
    readings = public.sensors.metrics()
    return Frame(
        title=f"{scenario.pack} · {scenario.tier} · seed {scenario.seed}",
        team=episode.team,
        step=0,
        limit=public.limit,
        on_turn=role_on_turn(0),
        readings=readings,
        latency={r.service: (r.latency_ms,) for r in readings},
        errors={r.service: (r.error_pct,) for r in readings},
        alerts=public.sensors.alerts(),
        logs=public.sensors.logs(),
        trace=public.sensors.trace(),
        chat=(),
        rubrics={},
        reward=0.0,
    )


def next_frame(frame: Frame, episode: Episode, public: Public) -> Frame:
    """The frame after the episode's latest turn."""
    turn = episode.turns[-1]
    readings = public.sensors.metrics()
    flags = frame.flags
    action = turn.decision.action
    if isinstance(action, FlagRogue) and turn.events.miscommunication is None:
        events = turn.events
        known = not events.unknown_flag
        caught = known and not events.false_flag
        flags = (*flags, FlagMoment(events.step, action.target, caught, known))
    return replace(
        frame,
        step=public.step,
        on_turn=role_on_turn(public.step),
        readings=readings,
        latency={r.service: (*frame.latency[r.service], r.latency_ms)[-HISTORY:] for r in readings},
        errors={r.service: (*frame.errors[r.service], r.error_pct)[-HISTORY:] for r in readings},
        alerts=public.sensors.alerts(),
        logs=public.sensors.logs(),
        trace=public.sensors.trace(),
        chat=public.journal,
        rubrics=episode.rubric_totals,
        reward=episode.reward,
        turn=turn,
        findings=public.findings,
        wrong_fixes=episode.wrong_fixes,
        flags=flags,
        outcome=_outcome(episode) if turn.events.over else None,
    )


def _outcome(episode: Episode) -> Outcome:
    return Outcome(
        episode.resolved,
        episode.steps,
        episode.cause,
        episode.rogue,
        episode.rogue_caught,
        episode.wrong_fixes,
        episode.false_flags,
        episode.unknown_flags,
        episode.reward,
    )
