"""The best validation of a run so far, and when to stop waiting for a better one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from chaosops.training.recipe import Recipe

BEST = "best"  # the folder of its adapter


class Best:
    """Judged by the mean reward over tiers, on the reserve where the recipe names one. Other words
    and wordings show when a learner stops reading, which it may do while its reward on what it
    trains on still rises."""

    def __init__(self, recipe: Recipe, metrics: Path) -> None:
        """A run that is resumed goes on with the validations in its metrics."""
        self._recipe = recipe
        self._score = float("-inf")
        self._left = recipe.patience
        for line in metrics.read_text(encoding="utf-8").splitlines():
            self.take(json.loads(line))

    def take(self, row: Mapping[str, Any]) -> bool:
        """Is this the best validation so far?"""
        if "validation" not in row or row["step"] == 0 or not self._recipe.patience:
            return False
        score = self._score_of(row["validation"])
        if score > self._score:
            self._score, self._left = score, self._recipe.patience
            return True
        self._left -= 1
        return False

    @property
    def is_final(self) -> bool:
        """Has there been no better one for as long as the recipe waits?"""
        return bool(self._recipe.patience) and self._left <= 0

    def _score_of(self, validation: Mapping[str, Any]) -> float:
        return validation_score(self._recipe, validation)


def validation_score(recipe: Recipe, validation: Mapping[str, Any]) -> float:
    judged = [row for name, row in validation.items() if name.startswith(f"{recipe.reserve} ")]
    return float(mean(row["mean_reward"] for row in (judged or validation.values())))


def kept_validation(recipe: Recipe, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The validation of the adapter that a run kept: the best, or the last where it does not stop
    by validation."""
    later = [row for row in rows if row["step"]]
    if not later or not recipe.patience:
        return rows[-1] if rows else None
    return max(later, key=lambda row: validation_score(recipe, row["validation"]))
