"""An episode as frames: what a spectator's screen shows after each turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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
from chaosops.core.vocabulary import Role
from chaosops.packs import load_pack
from chaosops.report.acts import act_words
from chaosops.report.wording import worded_chat, worded_episode, worded_turn
from chaosops.roles.layout import Selection
from chaosops.roles.layouts import layout_of
from chaosops.roles.view import project
from chaosops.rollout import Rollout
from chaosops.wire.ending import explanation

HISTORY = 16


@dataclass(frozen=True)
class FlagMoment:
    """A flag and its verdict."""

    step: int
    agent: str
    caught: bool
    known: bool  # False: no agent of the fleet has this name
    act: str = ""  # what it was flagged for
    evidence: int = 0  # the number of this act; 0: the flag names none


@dataclass(frozen=True)
class Frame:
    title: str
    team: str
    step: int
    limit: int
    on_turn: Role
    history: tuple[tuple[ServiceReading, ...], ...]
    alerts: tuple[Alert, ...]
    logs: tuple[LogLine, ...]
    trace: tuple[TraceEntry, ...]
    chat: tuple[Message, ...]
    findings: tuple[Inspection | AuditReport, ...]
    turn: Turn | None
    rubrics: Mapping[str, float]
    reward: float
    wrong_fixes: int
    flags: tuple[FlagMoment, ...]
    outcome: Episode | None  # at the end: the whole episode, with the truth
    explanation: Sequence[str]  # at the end
    relevant: Selection

    @property
    def readings(self) -> tuple[ServiceReading, ...]:
        return self.history[-1]

    @property
    def flag_now(self) -> FlagMoment | None:
        """The flag of the latest turn."""
        return self.flags[-1] if self.flags and self.flags[-1].step == self.step else None


def frame_of(rollout: Rollout, before: Frame | None = None) -> Frame:
    """The frame after the latest turn. ``before`` is the previous one, None at the start."""
    episode, env = rollout.episode, rollout.env
    public, sensors = env.world.public, env.world.public.sensors
    scenario = episode.scenario
    wordings = load_pack(scenario.pack).wordings
    past = before.history if before else ()
    return Frame(
        title=f"{scenario.pack} · {scenario.tier} · seed {scenario.seed}",
        team=episode.team,
        step=public.step,
        limit=public.limit,
        on_turn=env.role,
        history=(*past, sensors.metrics())[-HISTORY:],
        alerts=sensors.alerts(),
        logs=sensors.logs(),
        trace=sensors.trace(),
        chat=worded_chat(public.journal, wordings),
        findings=public.findings,
        turn=worded_turn(episode.turns[-1], wordings) if episode.turns else None,
        rubrics=episode.rubric_totals,
        reward=episode.reward,
        wrong_fixes=episode.wrong_fixes,
        flags=tuple(_flags(episode, sensors.trace())),
        outcome=worded_episode(episode) if env.over else None,
        explanation=explanation(episode) if env.over else (),
        relevant=_relevant(public),
    )


def _flags(episode: Episode, trace: Sequence[TraceEntry]) -> Iterator[FlagMoment]:
    acts = {entry.id: act_words(entry) for entry in trace if entry.id}
    for turn in episode.turns:
        action, events = turn.decision.action, turn.events
        if isinstance(action, FlagRogue) and events.miscommunication is None:
            known = not events.unknown_flag
            caught, number = known and not events.false_flag, action.evidence or 0
            act = acts.get(number, "")
            yield FlagMoment(events.step, action.target, caught, known, act, number if act else 0)


def _relevant(public: Public) -> Selection:
    """What Oversight would unfold, with the pages whole."""
    layout = layout_of(public.rules)
    if layout.relevant is None:
        return Selection()
    found = layout.relevant(project(public, Role.OVERSIGHT))
    pages = {page.name: page for page in public.rules.runbook}
    return found._replace(pages=[pages[page.name] for page in found.pages])
