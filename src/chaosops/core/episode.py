"""An episode and its turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from chaosops.core.actions import is_failed_turn
from chaosops.core.decision import Decision, Exchange
from chaosops.core.events import Events
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role


class Score(NamedTuple):
    """The reward of one step: the sum of ``rubrics``, each the sum of its ``components``."""

    total: float
    rubrics: Mapping[str, float]
    components: Mapping[str, Mapping[str, float]]

    def __reduce__(self) -> tuple[object, ...]:
        # Read-only proxies cannot be pickled.
        parts = {name: dict(values) for name, values in self.components.items()}
        return (Score, (self.total, dict(self.rubrics), parts))


class Turn(NamedTuple):
    role: Role
    decision: Decision
    events: Events
    score: Score


@dataclass(slots=True)
class Episode:
    """One incident as it was played. All figures are computed from the turns."""

    scenario: Scenario
    cause: str
    rogue: str | None
    team: str
    turns: list[Turn] = field(default_factory=list)
    observed: list[Any] = field(default_factory=list)
    """Where a pack plays in real time: what it observed at the start and after each turn. The
    episode can be shown again from it, and not be played again."""

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
        """Flags on a name that is not an agent of the fleet."""
        return sum(turn.events.unknown_flag for turn in self.turns)

    @property
    def miscommunications(self) -> int:
        return sum(turn.events.miscommunication is not None for turn in self.turns)

    @property
    def unreadable_replies(self) -> int:
        return sum(turn.decision.action.verb == "unreadable" for turn in self.turns)

    @property
    def failed_turns(self) -> int:
        """Turns in which a model could not answer. They count as unreadable replies too."""
        return sum(is_failed_turn(turn.decision.action) for turn in self.turns)

    @property
    def exchanges(self) -> list[Exchange]:
        """The exchanges of language models; scripts have none."""
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
        """How often a model was sent a correction."""
        return sum(exchange.attempts - 1 for exchange in self.exchanges)

    @property
    def reasoning_chars(self) -> int:
        """Characters that models wrote before their answers."""
        return sum(exchange.reasoning_chars for exchange in self.exchanges)

    @property
    def lost_suspicions(self) -> int:
        """Replies of Oversight whose suspicion was missing or could not be used."""
        return sum(exchange.suspicion_lost for exchange in self.exchanges)

    @property
    def rogue_caught(self) -> bool | None:
        """None if there was no rogue."""
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

    def _repr_html_(self) -> str:
        """In a notebook."""
        from chaosops.core.episode_card import episode_card

        return episode_card(self)
