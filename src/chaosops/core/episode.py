"""The record of what was played: turns, and the episode they add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from chaosops.core.actions import is_failed_turn, to_wire
from chaosops.core.chain import prompt_hash
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

    def to_wire(self) -> dict[str, Any]:
        return {**self.figures(), "turns": [turn_to_wire(turn) for turn in self.turns]}

    def figures(self) -> dict[str, Any]:
        """What can be counted, without the turns."""
        return {
            "scenario": self.scenario.to_wire(),
            "cause": self.cause,
            "team": self.team,
            "reward": self.reward,
            "resolved": self.resolved,
            "steps": self.steps,
            "wrong_fixes": self.wrong_fixes,
            "false_flags": self.false_flags,
            "unknown_flags": self.unknown_flags,
            "miscommunications": self.miscommunications,
            "unreadable_replies": self.unreadable_replies,
            **self._model_figures(),
            "rogue": self.rogue,
            "rogue_caught": self.rogue_caught,
            "rubrics": self.rubric_totals,
        }

    def _model_figures(self) -> dict[str, int]:
        """A script reads no tokens; to say that it read none would be a figure about nothing."""
        if not self.exchanges:
            return {}
        return {
            "tokens_read": self.tokens_read,
            "tokens_written": self.tokens_written,
            "retries": self.retries,
            "failed_turns": self.failed_turns,
        }


# What a turn's wire form holds beside the fields of its action.
TURN_FIELDS = frozenset(
    {
        *("step", "role", "suspicion", "events", "reward", "rubrics"),
        *("reply", "prompt_sha256", "tokens_read", "tokens_written", "corrections"),
    }
)


def turn_to_wire(turn: Turn) -> dict[str, Any]:
    """Enough to play the turn again and to count everything that is counted."""
    events = {
        name: value
        for name, value in turn.events._asdict().items()
        if value not in (False, None) and name != "step"
    }
    action, suspicion, exchange = turn.decision
    return {
        "step": turn.events.step,
        "role": turn.role.value,
        **to_wire(action),
        **({} if suspicion is None else {"suspicion": dict(suspicion)}),
        **({} if exchange is None else exchange_to_wire(exchange)),
        "events": events,
        "reward": turn.score.total,
        "rubrics": {name: value for name, value in turn.score.rubrics.items() if value},
    }


def exchange_to_wire(exchange: Exchange) -> dict[str, Any]:
    """The prompt's hash stands for the prompt: the world renders it again from the view."""
    wire: dict[str, Any] = {
        "reply": exchange.reply,
        "prompt_sha256": prompt_hash(exchange.question),
        "tokens_read": exchange.tokens_read,
        "tokens_written": exchange.tokens_written,
    }
    if exchange.corrections:
        wire["corrections"] = [dict(message) for message in exchange.corrections]
    return wire
