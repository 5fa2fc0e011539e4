"""What stops a run, and what only warns: rules over the numbers that a run reports anyway."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.training.recipe import Recipe


def check_step(recipe: Recipe, row: Mapping[str, Any]) -> list[str]:
    """Warnings about one step; an error where going on makes no sense."""
    warnings = []
    if row["entropy"] < recipe.entropy_alarm:
        warnings.append(
            f"entropy {row['entropy']:.4f} is below {recipe.entropy_alarm}: the policy is sure of "
            "everything and learns no more from its own draws"
        )
    if row["spread"] == 0:
        warnings.append("every action of every state was worth the same: nothing to learn")
    return warnings


def check_divergence(recipe: Recipe, nats: float) -> list[str]:
    if nats > recipe.kl_abort:
        raise BadInput(
            f"the policy is {nats:.2f} nats from where it began, more than kl_abort = "
            f"{recipe.kl_abort}: lower learning_rate; the last checkpoint is kept"
        )
    if nats > recipe.kl_alarm:
        return [f"the policy is {nats:.2f} nats from where it began (kl_alarm {recipe.kl_alarm})"]
    return []


def trip(step: int, acts: str, others: Mapping[str, str]) -> None:
    """A learner that acts exactly like somebody else is not learning, or is not the learner."""
    for name, theirs in others.items():
        if acts == theirs and not (name == "base" and step == 0):
            raise BadInput(
                f"after {step} steps the learner acts like {name} in every validation episode: "
                "the run is stopped, because its numbers would not be its own"
            )
