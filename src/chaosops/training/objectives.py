"""What a batch of menus teaches: three objectives over the same counterfactual returns.

``match`` draws the policy towards softmax(returns / temperature). It learns fast from nothing,
but where the truth cannot be known it ends at the mixture of what would have been best.
``improve`` raises the expected return itself, which is what counts when in doubt: it prefers
a look that is good in every case to an accusation that is right in most. It needs a policy
that is not yet sure of everything, so it comes second. ``sample`` is GRPO as it is usually
done: some replies are drawn per prompt and compared with each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from chaosops.training.learner import LABELS
from chaosops.training.recipe import Recipe
from chaosops.training.states import State

_WORST = 3.0  # in temperatures: one catastrophe must not drown all other lessons


class Lesson(NamedTuple):
    loss: Any
    regret: list[float]  # points lost by the likeliest action, per state
    divergence: list[float]  # from the target of ``match``, or from the start with ``kl``
    entropy: float


def gains_table(torch: Any, states: Sequence[State], idle_bonus: float, device: Any) -> Any:
    """A row per state, a column per label; minus infinity where the menu has none. The first
    label does nothing, everywhere."""
    rows = [[state.gains.get(label, -math.inf) for label in LABELS] for state in states]
    table = torch.tensor(rows, dtype=torch.float32)
    table[:, 0] += idle_bonus
    return table.to(device)


def lesson(
    torch: Any, logits: Any, gains: Any, recipe: Recipe, *, start: Any = None, draw: int = 0
) -> Lesson:
    """``start`` holds the logits of the policy that a ``kl`` holds on to; ``draw`` is the key
    of what ``sample`` draws."""
    absent = gains.isinf()
    logs = torch.log_softmax(logits.masked_fill(absent, float("-inf")), dim=1)
    known = logs.masked_fill(absent, 0.0)
    chances = logs.exp()
    entropy = -(chances * known).sum(1)
    values = gains.masked_fill(absent, 0.0)
    apart = torch.zeros_like(entropy)
    if recipe.objective == "match":
        target = torch.softmax(gains / recipe.temperature, dim=1)
        floor = -(target * target.clamp_min(1e-9).log()).sum(1)
        rows = -(target * known).sum(1)
        apart = rows - floor
    elif recipe.objective == "improve":
        expected = (chances.detach() * values).sum(1, keepdim=True)
        better = ((values - expected) / recipe.temperature).clamp(-_WORST, _WORST)
        rows = -(chances * better.masked_fill(absent, 0.0)).sum(1)
    else:
        rows = _drawn(torch, chances.detach(), known, values, recipe.group_size, draw)
    loss = rows.mean() - recipe.entropy * entropy.mean()
    if start is not None:
        first = torch.log_softmax(start.masked_fill(absent, float("-inf")), dim=1)
        apart = (chances * (known - first.masked_fill(absent, 0.0))).sum(1)
        loss = loss + recipe.kl * apart.mean()
    with torch.no_grad():
        taken = gains.gather(1, logs.argmax(1, keepdim=True))[:, 0]
        regret = gains.max(1).values - taken
    return Lesson(loss, regret.tolist(), apart.detach().tolist(), float(entropy.detach().mean()))


def _drawn(torch: Any, chances: Any, known: Any, values: Any, size: int, draw: int) -> Any:
    """Each reply against the others of its group, in units of the group's spread."""
    dice = torch.Generator(device=chances.device).manual_seed(draw)
    group = torch.multinomial(chances, size, replacement=True, generator=dice)
    points = values.gather(1, group)
    spread = points.std(1, keepdim=True)
    better = (points - points.mean(1, keepdim=True)) / spread.clamp_min(1e-6)
    return -(better * known.gather(1, group)).mean(1)
