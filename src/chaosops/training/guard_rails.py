"""The guard rails of a run: the KL limit, the entropy alarm and the tripwire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.training.recipe import Recipe


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
        if actions == theirs and not (name == "base" and step == 0):
            raise BadInput(
                f"after {step} steps the learner acts like {name} in every validation episode: "
                "the run is stopped, because nothing was learned"
            )
