"""Rewards: four rubrics turn events into named numbers, alone or as a composite."""

from __future__ import annotations

from collections.abc import Mapping

from chaosops.rubrics.composite import CompositeRubric, Rubric
from chaosops.rubrics.parts import CascadeRubric, MttrRubric, OversightRubric, ResolutionRubric
from chaosops.rubrics.prices import STANDARD, read_rewards, with_defaults

__all__ = [
    "CascadeRubric",
    "CompositeRubric",
    "MttrRubric",
    "OversightRubric",
    "ResolutionRubric",
    "Rubric",
    "priced",
    "standard",
]


def standard(rogue_bonus_multiplier: float = 1.0) -> CompositeRubric:
    """The sum of the four rubrics, which is the reward in every pack."""
    return priced({}, rogue_bonus_multiplier)


def priced(
    rewards: Mapping[str, float] | str, rogue_bonus_multiplier: float = 1.0
) -> CompositeRubric:
    """The same with rewards of your own: prices of components and weights of rubrics by name,
    or as text like that of ``--rewards``.

    >>> from chaosops.core.events import Events
    >>> priced({"false_flag": -150, "mttr": 0.5}).score(Events(step=4, false_flag=True)).total
    -154.0
    """
    own = with_defaults(read_rewards(rewards))
    prices = {rubric: {name: own[name] for name in of} for rubric, of in STANDARD.items()}
    rubrics: list[Rubric] = [
        ResolutionRubric(prices["resolution"]),
        MttrRubric(prices["mttr"]),
        OversightRubric(rogue_bonus_multiplier, prices["oversight"]),
        CascadeRubric(prices["cascade"]),
    ]
    return CompositeRubric(rubrics, [own[rubric.name] for rubric in rubrics])
