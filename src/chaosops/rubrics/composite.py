"""The sum of several rubrics."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Protocol

from chaosops.core.episode import Score
from chaosops.core.errors import BadInput
from chaosops.core.events import Events


class Rubric(Protocol):
    @property
    def name(self) -> str: ...

    def score(self, events: Events) -> dict[str, float]:
        """Named components. One that does not apply is left out."""
        ...


class CompositeRubric:
    """The sum of its rubrics, each with an optional weight.

    A score depends only on the events, and few different events occur, so scores are cached. The
    cache is bounded because arena episodes may be long.
    """

    _CACHE_LIMIT = 4096

    def __init__(self, rubrics: Sequence[Rubric], weights: Sequence[float] | None = None) -> None:
        names = [rubric.name for rubric in rubrics]
        if len(set(names)) != len(names):
            raise BadInput(f"a composite takes each rubric once, got {', '.join(names)}")
        if weights is not None and len(weights) != len(rubrics):
            raise BadInput(
                f"{len(rubrics)} rubrics need {len(rubrics)} weights, got {len(weights)}"
            )
        self.rubrics = tuple(rubrics)
        self.weights = tuple(weights) if weights is not None else (1.0,) * len(rubrics)
        self._scores: dict[Events, Score] = {}

    def score(self, events: Events) -> Score:
        """
        >>> from chaosops.rubrics import CascadeRubric, MttrRubric
        >>> both = CompositeRubric([MttrRubric(), CascadeRubric()])
        >>> both.score(Events(step=3, second_order=True)).total
        -46.0
        """
        score = self._scores.get(events)
        if score is None:
            if len(self._scores) >= self._CACHE_LIMIT:
                self._scores.clear()
            score = self._scores[events] = self._compute(events)
        return score

    def _compute(self, events: Events) -> Score:
        components = {}
        totals = {}
        for rubric, weight in zip(self.rubrics, self.weights, strict=True):
            # Without the sum, a weight of 0 would make a cost -0.0.
            parts = {name: weight * value + 0.0 for name, value in rubric.score(events).items()}
            components[rubric.name] = MappingProxyType(parts)
            totals[rubric.name] = float(sum(parts.values()))
        total = float(sum(totals.values()))
        return Score(total, MappingProxyType(totals), MappingProxyType(components))
