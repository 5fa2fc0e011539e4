"""How hard a token of a reply is pushed, if the model would have drawn it with another
probability.

TRL's loss multiplies an advantage by the ratio of the token's probability now to that at the
drawing. ``pushes`` gives TRL the advantages and the log-probabilities at the drawing with which
this product has the gradient that a recipe asks for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from chaosops.training.recipe import Recipe


class Pushes(NamedTuple):
    advantages: Any
    drawn: Any  # log-probabilities at the drawing


class Origin(NamedTuple):
    """Where replies come from: a row for each reply, one column."""

    given: Any  # not drawn at all
    floor: Any  # the share of replies that were drawn from the legal ones
    odds: Any  # the probability of this reply in that share


def pushes(recipe: Recipe, now: Any, before: Any, advantages: Any, origin: Origin) -> Pushes:
    """``now`` and ``before`` are the model's log-probabilities of each token: in this update, and
    when the replies were drawn.

    - A reply that was given has no ratio. Its gradient is that of f(p) = p / (p + gamma) (LUFFY,
      arXiv:2504.14945), or with gamma 0 that of log p, as if the model had drawn it.
    - A reply that was drawn under a floor has the probability of the mixture in its ratio.
    - With ``bound_bad`` a bad reply is weighted by its ratio up to that bound, and a good one by
      no ratio. So a bad reply that the model hardly ever writes is not pushed far, and a good one
      is. Below 1, bad replies as a whole are pushed less than good ones.
    - In all other cases TRL clips the ratio.
    """
    now = now.detach()
    mixed = (1 - origin.floor) * before.exp() + origin.floor * origin.odds
    drawn = torch.where(origin.floor > 0, mixed.clamp_min(1e-30).log(), before)
    weights = torch.ones_like(now)
    if recipe.bound_bad:
        bounded = (now - drawn).exp().clamp(max=recipe.bound_bad)
        weights = torch.where(advantages < 0, bounded, weights)
        drawn = now
    weights = torch.where(origin.given, shaped(now.exp(), recipe.virtual_gamma), weights)
    return Pushes(advantages * weights, torch.where(origin.given, now, drawn))


def shaped(probability: Any, gamma: float) -> Any:
    """The gradient of p / (p + gamma) in units of the gradient of log p."""
    if not gamma:
        return torch.ones_like(probability)
    return gamma * probability / (probability + gamma) ** 2
