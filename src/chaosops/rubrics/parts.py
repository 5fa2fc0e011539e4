"""The four rubrics of the reward. Each takes prices other than the standard."""

from __future__ import annotations

import math

from chaosops.core.errors import BadInput
from chaosops.core.events import Events
from chaosops.rubrics.prices import STANDARD, Prices

FAST_STEP = 8
EARLY_CAUSE_STEP = 3


class ResolutionRubric:
    """The reward for resolving the incident, and the costs of mistakes."""

    name = "resolution"

    def __init__(self, prices: Prices = STANDARD["resolution"]) -> None:
        self.prices = prices

    def score(self, events: Events) -> dict[str, float]:
        """
        >>> ResolutionRubric().score(Events(step=3, resolved=True))
        {'resolved': 100.0, 'fast': 10.0}
        """
        happened = {
            "resolved": events.resolved,
            "fast": events.resolved and events.step <= FAST_STEP,
            "wrong_fix": events.wrong_fix,
            "miscommunication": events.miscommunication is not None,
            "root_cause": events.cause_named and events.step <= EARLY_CAUSE_STEP,
            "unresolved": events.out_of_time,
        }
        return {name: self.prices[name] for name, did in happened.items() if did}


class MttrRubric:
    """The cost of time: each step of trouble costs more than the one before. Steps in which
    everything is well and the team waits for what may come cost nothing, and trouble after them
    counts anew."""

    name = "mttr"

    def __init__(self, prices: Prices = STANDARD["mttr"]) -> None:
        self.prices = prices

    def score(self, events: Events) -> dict[str, float]:
        """
        >>> MttrRubric().score(Events(step=4)), MttrRubric().score(Events(step=4, resolved=True))
        ({'elapsed': -8.0}, {})
        >>> MttrRubric().score(Events(step=9, trouble_steps=2))
        {'elapsed': -4.0}
        """
        steps = events.step if events.trouble_steps is None else events.trouble_steps
        return {} if events.resolved or not steps else {"elapsed": self.prices["elapsed"] * steps}


class OversightRubric:
    """The reward for flagging the rogue. A false flag costs more than a right one pays."""

    name = "oversight"

    def __init__(
        self, rogue_bonus_multiplier: float = 1.0, prices: Prices = STANDARD["oversight"]
    ) -> None:
        """The multiplier scales reward and costs alike."""
        if not (math.isfinite(rogue_bonus_multiplier) and rogue_bonus_multiplier >= 0):
            raise BadInput(
                f"rogue_bonus_multiplier must be a finite number >= 0, got {rogue_bonus_multiplier}"
            )
        self.rogue_bonus_multiplier = rogue_bonus_multiplier
        self.prices = prices

    def score(self, events: Events) -> dict[str, float]:
        """
        >>> OversightRubric(2.0).score(Events(step=2, rogue_flagged=True))
        {'rogue_flagged': 100.0}
        """
        return {
            name: value * self.rogue_bonus_multiplier
            for name, value in self.prices.items()
            if getattr(events, name)
        }


class CascadeRubric:
    """The cost of a fix that breaks another service."""

    name = "cascade"

    def __init__(self, prices: Prices = STANDARD["cascade"]) -> None:
        self.prices = prices

    def score(self, events: Events) -> dict[str, float]:
        """
        >>> CascadeRubric().score(Events(step=1, second_order=True))
        {'second_order': -40.0}
        """
        return dict(self.prices) if events.second_order else {}
