"""The guard rails of a run: validation, the KL limit, the entropy alarm and the tripwire."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.files import write_text
from chaosops.core.inputs import read_object
from chaosops.policies.protocol import Policy
from chaosops.training.credited_turns import credited_turns
from chaosops.training.learner import Learner
from chaosops.training.learner_policy import LearnerPolicy
from chaosops.training.recipe import Recipe, validated_rubric
from chaosops.training.run_folder import START
from chaosops.training.seeds import PROBE_EPISODES
from chaosops.training.story import (
    count_companies,
    play_scripts,
    tell_story,
    write_baselines,
    write_companies,
)
from chaosops.training.validation import (
    actions_digest,
    play_all,
    validation_rows,
    validation_scenarios,
)

_PROBES = 32


class Supervisor(ABC):
    """Validates the learner. The learner at the start of the run is recorded in the run's folder,
    so that a resumed run is compared with the same start."""

    recorded = {"base"}

    def __init__(self, recipe: Recipe, policy: Policy, folder: Path) -> None:
        self._recipe = recipe
        self._policy = policy
        self._scenarios = validation_scenarios(recipe)
        self._folder = folder
        scripts = play_scripts(self._scenarios, validated_rubric(recipe))
        self._scripted = {name: actions_digest(played) for name, played in scripts.items()}
        write_baselines(folder, scripts)
        write_companies(folder, count_companies(next(iter(scripts.values()))))
        kept = folder / START
        if not kept.is_file():
            played = play_all(policy, self._scenarios, validated_rubric(recipe))
            tell_story(folder, 0, played)
            start = {"base": actions_digest(played), **self._at_start(played)}
            write_text(kept, json.dumps(start) + "\n")
        self._start = read_object(kept, "start of the run")
        if not self.recorded <= set(self._start):
            raise BadInput(f"{kept} does not record the start of this run; start the run again")

    def inspect(self, step: int, *, tolerant: bool = False) -> tuple[dict[str, Any], list[str]]:
        """A row of metrics, and warnings. ``tolerant`` allows a learner that acts like the base."""
        nats = self._nats_from_start()
        warnings = check_divergence(self._recipe, nats)
        played = play_all(self._policy, self._scenarios, validated_rubric(self._recipe))
        tell_story(self._folder, step, played)
        actions, base = actions_digest(played), self._start["base"]
        check_tripwire(step, actions, self._scripted | ({} if tolerant else {"base": base}))
        if actions == base:
            warnings.append("the learner still acts like the base in every validation episode")
        row = {"step": step, "kl_from_start": nats, "validation": validation_rows(played)}
        return row, warnings

    def _at_start(self, played: Sequence[Episode]) -> dict[str, Any]:
        """More values to record at the start of a run."""
        return {}

    @abstractmethod
    def _nats_from_start(self) -> float:
        """Mean KL in nats over fixed turns that are never trained on."""


class MenuSupervisor(Supervisor):
    recorded = {"base", "chances", "validation"}

    def __init__(self, recipe: Recipe, learner: Learner, folder: Path) -> None:
        self._learner = learner
        probes = [turn for index in PROBE_EPISODES for turn in credited_turns(recipe, index)]
        self._probes = probes[:_PROBES]
        super().__init__(recipe, LearnerPolicy(learner), folder)
        validation = self._start["validation"]
        self.first_row = {"step": 0, "kl_from_start": 0.0, "validation": validation}

    def _at_start(self, played: Sequence[Episode]) -> dict[str, Any]:
        return {"chances": self._probabilities(), "validation": validation_rows(played)}

    def _nats_from_start(self) -> float:
        total = 0.0
        for row, was in zip(self._probabilities(), self._start["chances"], strict=True):
            pairs = zip(row, was, strict=True)
            total += sum(p * math.log(p / max(q, 1e-12)) for p, q in pairs if p > 0)
        return total / len(self._probes)

    def _probabilities(self) -> list[list[float]]:
        prompts = self._learner.encode([turn.chat for turn in self._probes])
        return self._learner.probabilities(prompts, [list(turn.returns) for turn in self._probes])


def check_step(recipe: Recipe, row: Mapping[str, Any]) -> list[str]:
    """Warnings about one update."""
    warnings = []
    if row["entropy"] < recipe.entropy_alarm:
        warnings.append(
            f"entropy {row['entropy']:.4f} is below {recipe.entropy_alarm}: the policy hardly "
            "explores any more"
        )
    if row["spread"] == 0:
        warnings.append("all actions of every turn have the same return: nothing to learn")
    return warnings


def check_divergence(recipe: Recipe, nats: float) -> list[str]:
    """Warn above ``kl_alarm`` and stop the run above ``kl_abort``."""
    if nats > recipe.kl_abort:
        raise BadInput(
            f"the policy is {nats:.2f} nats from its start, more than kl_abort = "
            f"{recipe.kl_abort}: lower learning_rate; the last checkpoint is kept"
        )
    if nats > recipe.kl_alarm:
        return [f"the policy is {nats:.2f} nats from its start (kl_alarm {recipe.kl_alarm})"]
    return []


def check_tripwire(step: int, actions: str, others: Mapping[str, str]) -> None:
    """Stop a run whose learner acts exactly like another policy in validation."""
    for name, theirs in others.items():
        if actions == theirs:
            raise BadInput(
                f"after {step} steps the learner acts like {name} in every validation episode: "
                "the run is stopped, because nothing was learned"
            )
