"""What a batch of menus teaches: two objectives over the same counterfactual returns.

``match`` draws the policy towards softmax(returns / temperature). It learns fast from nothing,
but where the truth cannot be known it ends at the mixture of what would have been best.
``improve`` raises the expected return itself, which is what counts when in doubt: it prefers
a look that is good in every case to an accusation that is right in most. It needs a policy
that is not yet sure of everything, so it comes second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from chaosops.training.learner import LABELS
from chaosops.training.recipe import Recipe
from chaosops.training.states import State

_WORST = 3.0  # in temperatures: one catastrophe must not drown all other lessons


class Lesson(NamedTuple):
    loss: Any
    regret: list[float]  # points lost by the likeliest action, per state
    divergence: list[float]  # from the target of ``match``
    entropy: float


def gains_table(torch: Any, states: Sequence[State], device: Any) -> Any:
    """A row per state, a column per label; minus infinity where the menu has none."""
    table = torch.full((len(states), len(LABELS)), float("-inf"))
    for row, state in enumerate(states):
        for label, value in state.gains.items():
            table[row, LABELS.index(label)] = value
    return table.to(device)


def lesson(torch: Any, logits: Any, gains: Any, recipe: Recipe) -> Lesson:
    absent = gains.isinf()
    logs = torch.log_softmax(logits.masked_fill(absent, float("-inf")), dim=1)
    known = logs.masked_fill(absent, 0.0)
    chances = logs.exp()
    entropy = -(chances * known).sum(1)
    if recipe.objective == "match":
        target = torch.softmax(gains / recipe.temperature, dim=1)
        floor = -(target * target.clamp_min(1e-9).log()).sum(1)
        rows = -(target * known).sum(1)
        apart = rows - floor
    else:
        values = gains.masked_fill(absent, 0.0)
        expected = (chances.detach() * values).sum(1, keepdim=True)
        better = ((values - expected) / recipe.temperature).clamp(-_WORST, _WORST)
        rows = -(chances * better.masked_fill(absent, 0.0)).sum(1)
        apart = torch.zeros_like(rows)
    loss = rows.mean() - recipe.entropy * entropy.mean()
    with torch.no_grad():
        taken = gains.gather(1, logs.argmax(1, keepdim=True))[:, 0]
        regret = gains.max(1).values - taken
    return Lesson(loss, regret.tolist(), apart.detach().tolist(), float(entropy.detach().mean()))
