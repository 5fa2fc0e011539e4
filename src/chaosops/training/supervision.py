"""Checks during a run of method ``menu``: validation, KL from the start, tripwire."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.core.errors import BadInput
from chaosops.core.files import write_text
from chaosops.core.inputs import read_object
from chaosops.training.credited_turns import CreditedTurn, credited_turns
from chaosops.training.guard_rails import check_divergence, check_tripwire
from chaosops.training.learner import Learner
from chaosops.training.learner_policy import LearnerPolicy
from chaosops.training.recipe import Recipe
from chaosops.training.run_folder import START
from chaosops.training.seeds import PROBE_EPISODES
from chaosops.training.validation import (
    actions_digest,
    play_all,
    scripted_digests,
    validation_rows,
    validation_scenarios,
)

_PROBES = 32


class Finding(NamedTuple):
    row: dict[str, Any]
    warnings: list[str]


class Supervisor:
    """The learner at the start of the run is recorded in the run's folder, so that a resumed
    run is compared with the same start."""

    def __init__(self, recipe: Recipe, learner: Learner, folder: Path) -> None:
        self._recipe = recipe
        self._learner = learner
        self.first_row: dict[str, Any] | None = None
        if not recipe.validate_every:
            return
        self._scenarios = validation_scenarios(recipe)
        self._others = scripted_digests(self._scenarios)
        self._probes = _probes(recipe)
        kept = folder / START
        if not kept.is_file():
            played = play_all(LearnerPolicy(learner), self._scenarios)
            first = {
                "base": actions_digest(played),
                "chances": self._probabilities(),
                "validation": validation_rows(played),
            }
            write_text(kept, json.dumps(first) + "\n")
        start = read_object(kept, "start of the run")
        if not {"base", "chances", "validation"} <= set(start):
            raise BadInput(f"{kept} does not record the start of this run; start the run again")
        self._others["base"] = start["base"]
        self._first: list[list[float]] = start["chances"]
        self.first_row = {"step": 0, "kl_from_start": 0.0, "validation": start["validation"]}

    def is_due(self, step: int, done: float) -> bool:
        every = self._recipe.validate_every
        return bool(every) and (step % every == 0 or done == 1.0)

    def inspect(self, step: int) -> Finding:
        nats = _divergence(self._probabilities(), self._first)
        warnings = check_divergence(self._recipe, nats)
        played = play_all(LearnerPolicy(self._learner), self._scenarios)
        check_tripwire(step, actions_digest(played), self._others)
        row = {"step": step, "kl_from_start": nats, "validation": validation_rows(played)}
        return Finding(row, warnings)

    def _probabilities(self) -> list[list[float]]:
        prompts = self._learner.encode([turn.chat for turn in self._probes])
        return self._learner.probabilities(prompts, [list(turn.returns) for turn in self._probes])


def _probes(recipe: Recipe) -> list[CreditedTurn]:
    """Fixed turns that are never trained on."""
    found = [turn for index in PROBE_EPISODES for turn in credited_turns(recipe, index)]
    return found[:_PROBES]


def _divergence(now: list[list[float]], first: list[list[float]]) -> float:
    """Mean KL in nats over the probes."""
    total = 0.0
    for row, was in zip(now, first, strict=True):
        pairs = zip(row, was, strict=True)
        total += sum(p * math.log(p / max(q, 1e-12)) for p, q in pairs if p > 0)
    return total / len(now)
