"""The standard composite."""

from __future__ import annotations

from chaosops.rubrics.cascade import CascadeRubric
from chaosops.rubrics.composite import CompositeRubric
from chaosops.rubrics.mttr import MttrRubric
from chaosops.rubrics.oversight import OversightRubric
from chaosops.rubrics.resolution import ResolutionRubric


def standard(rogue_bonus_multiplier: float = 1.0) -> CompositeRubric:
    """The four rubrics of both packs."""
    return CompositeRubric(
        [
            ResolutionRubric(),
            MttrRubric(),
            OversightRubric(rogue_bonus_multiplier),
            CascadeRubric(),
        ]
    )
