"""Rewards: four rubrics turn events into named numbers, alone or as a composite."""

from chaosops.rubrics.cascade import CascadeRubric
from chaosops.rubrics.composite import CompositeRubric, Rubric
from chaosops.rubrics.mttr import MttrRubric
from chaosops.rubrics.oversight import OversightRubric
from chaosops.rubrics.presets import standard
from chaosops.rubrics.resolution import ResolutionRubric

__all__ = [
    "CascadeRubric",
    "CompositeRubric",
    "MttrRubric",
    "OversightRubric",
    "ResolutionRubric",
    "Rubric",
    "standard",
]
