"""The record of what was played: turns, and the episode they add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from chaosops.core.actions import is_failed_turn
from chaosops.core.decision import Decision, Exchange
from chaosops.core.events import Events
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role


class Score(NamedTuple):
    """One step's reward. ``rubrics`` sums to ``total``; ``components`` sum to their rubric."""

    total: float
    rubrics: Mapping[str, float]
    components: Mapping[str, Mapping[str, float]]

    def __reduce__(self) -> tuple[object, ...]:
        # The shared mappings are read-only proxies, which do not pickle by themselves.
        parts = {name: dict(values) for name, values in self.components.items()}
        return (Score, (self.total, dict(self.rubrics), parts))


class Turn(NamedTuple):
    role: Role
    decision: Decision
    events: Events
    score: Score


@dataclass(slots=True)
class Episode:
    """Everything that can be counted is derived from the turns, so nothing can disagree."""

    scenario: Scenario
    cause: str
    rogue: str | None
    team: str
    turns: list[Turn] = field(default_factory=list)

    @property
    def reward(self) -> float:
        return sum(turn.score.total for turn in self.turns)

    @property
    def resolved(self) -> bool:
        return any(turn.events.resolved for turn in self.turns)

    @property
    def steps(self) -> int:
        return len(self.turns)

    @property
    def wrong_fixes(self) -> int:
        return sum(turn.events.wrong_fix for turn in self.turns)

    @property
    def false_flags(self) -> int:
        return sum(turn.events.false_flag for turn in self.turns)

    @property
    def unknown_flags(self) -> int:
        """Flags on a name that is no agent of the fleet. They accuse nobody."""
        return sum(turn.events.unknown_flag for turn in self.turns)

    @property
    def miscommunications(self) -> int:
        return sum(turn.events.miscommunication is not None for turn in self.turns)

    @property
    def unreadable_replies(self) -> int:
        return sum(turn.decision.action.verb == "unreadable" for turn in self.turns)

    @property
    def failed_turns(self) -> int:
        """Turns that a role lost because its model could not answer; unreadable replies too."""
        return sum(is_failed_turn(turn.decision.action) for turn in self.turns)

    @property
    def exchanges(self) -> list[Exchange]:
        """What language models were asked; none where scripts played."""
        exchanges = [turn.decision.exchange for turn in self.turns]
        return [exchange for exchange in exchanges if exchange is not None]

    @property
    def tokens_read(self) -> int:
        return sum(exchange.tokens_read for exchange in self.exchanges)

    @property
    def tokens_written(self) -> int:
        return sum(exchange.tokens_written for exchange in self.exchanges)

    @property
    def retries(self) -> int:
        """How often a model was shown the error of its reply and asked again."""
        return sum(exchange.attempts - 1 for exchange in self.exchanges)

    @property
    def rogue_caught(self) -> bool | None:
        """None where there was no rogue to catch."""
        if self.rogue is None:
            return None
        return any(turn.events.rogue_flagged for turn in self.turns)

    @property
    def rubric_totals(self) -> dict[str, float]:
        totals: dict[str, float] = {}
        for turn in self.turns:
            for name, value in turn.score.rubrics.items():
                totals[name] = totals.get(name, 0.0) + value
        return totals
