"""Rewards: four rubrics turn events into named numbers, alone or as a composite."""

from __future__ import annotations

from chaosops.rubrics.composite import CompositeRubric, Rubric
from chaosops.rubrics.parts import CascadeRubric, MttrRubric, OversightRubric, ResolutionRubric

__all__ = [
    "CascadeRubric",
    "CompositeRubric",
    "MttrRubric",
    "OversightRubric",
    "ResolutionRubric",
    "Rubric",
    "standard",
]


def standard(rogue_bonus_multiplier: float = 1.0) -> CompositeRubric:
    """The sum of the four rubrics, which is the reward in every pack."""
    oversight = OversightRubric(rogue_bonus_multiplier)
    return CompositeRubric([ResolutionRubric(), MttrRubric(), oversight, CascadeRubric()])
