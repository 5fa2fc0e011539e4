"""Three objectives over the same counterfactual returns.

``match`` moves the policy towards softmax(returns / temperature). It learns fast from an
untrained base. If the view does not show the truth, it ends at a mixture of the best actions.
``improve`` raises the expected return. If in doubt, it prefers an audit, which is good in every
case, to a flag that is right in most. It needs a policy with some entropy, so it comes second.
``sample`` is GRPO: replies are sampled for each prompt and compared with each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from chaosops.training.credited_turns import CreditedTurn
from chaosops.training.learner import column_of, width_of
from chaosops.training.marks import QUESTIONS
from chaosops.training.recipe import Recipe

_LARGEST_ADVANTAGE = 3.0  # in temperatures: one very bad action must not dominate


class BatchLoss(NamedTuple):
    """Tensors. Reading one waits for the GPU, so a caller starts the update first."""

    loss: Any
    regret: Any  # best return minus that of the likeliest action, for each turn
    divergence: Any  # from the target of ``match``, or with ``kl`` from the start, for each turn
    entropy: Any  # the mean


def returns_table(torch: Any, turns: Sequence[CreditedTurn], idle_bonus: float, device: Any) -> Any:
    """A row for each turn, a column for each label. Labels that the menu lacks have minus
    infinity. The first label is always noop."""
    width = width_of(label for turn in turns for label in turn.returns)
    rows = [[-math.inf] * width for _ in turns]
    for row, turn in zip(rows, turns, strict=True):
        for label, value in turn.returns.items():
            row[column_of(label)] = value
    table = torch.tensor(rows, dtype=torch.float32)
    table[:, 0] += idle_bonus
    return table.to(device)


def batch_loss(
    torch: Any,
    logits: Any,
    returns: Any,
    recipe: Recipe,
    *,
    start: Any = None,
    draw: int = 0,
) -> BatchLoss:
    """``start`` are the logits at the start of the run, for ``kl``; ``draw`` is the random key
    of ``sample``."""
    absent = returns.isinf()
    logs = torch.log_softmax(logits.masked_fill(absent, float("-inf")), dim=1)
    known = logs.masked_fill(absent, 0.0)
    probabilities = logs.exp()
    entropy = -(probabilities * known).sum(1)
    values = returns.masked_fill(absent, 0.0)
    divergence = torch.zeros_like(entropy)
    if recipe.objective == "match":
        target = torch.softmax(returns / recipe.temperature, dim=1)
        floor = -(target * target.clamp_min(1e-9).log()).sum(1)
        rows = -(target * known).sum(1)
        divergence = rows - floor
    elif recipe.objective == "improve":
        expected = (probabilities.detach() * values).sum(1, keepdim=True)
        scaled = (values - expected) / recipe.temperature
        advantages = scaled.clamp(-_LARGEST_ADVANTAGE, _LARGEST_ADVANTAGE)
        rows = -(probabilities * advantages.masked_fill(absent, 0.0)).sum(1)
    else:
        rows = _sampled(torch, probabilities.detach(), known, values, recipe.group_size, draw)
    if start is not None:
        first = torch.log_softmax(start.masked_fill(absent, float("-inf")), dim=1)
        divergence = (probabilities * (known - first.masked_fill(absent, 0.0))).sum(1)
        rows = rows + recipe.kl * divergence
    loss = rows.mean() - recipe.entropy * entropy.mean()
    with torch.no_grad():
        taken = returns.gather(1, logs.argmax(1, keepdim=True))[:, 0]
        regret = returns.max(1).values - taken
    return BatchLoss(loss, regret, divergence.detach(), entropy.detach().mean())


def reading_loss(torch: Any, answers: Sequence[Any], turns: Sequence[CreditedTurn]) -> Any:
    """The loss of the answers to questions about single acts, mean over readers."""
    rows = [mark.answers for turn in turns for mark in turn.marks]
    wanted = torch.tensor(rows, dtype=torch.float32, device=answers[0].device)
    losses = [
        torch.nn.functional.binary_cross_entropy_with_logits(found, wanted) for found in answers
    ]
    return sum(losses) / len(losses)


def reading_accuracy(torch: Any, answers: Any, turns: Sequence[CreditedTurn]) -> dict[str, float]:
    """For each question the balanced accuracy of a reader: a half is chance."""
    said = answers.detach().cpu() > 0
    truth = torch.tensor([mark.answers for turn in turns for mark in turn.marks])
    return {
        name: float(
            (said[truth[:, i], i].float().mean() + (~said[~truth[:, i], i]).float().mean()) / 2
        )
        for i, name in enumerate(QUESTIONS)
        if truth[:, i].any() and not truth[:, i].all()
    }


def _sampled(torch: Any, probabilities: Any, known: Any, values: Any, size: int, draw: int) -> Any:
    """The advantage of each reply within its group, in units of the group's deviation."""
    dice = torch.Generator(device=probabilities.device).manual_seed(draw)
    group = torch.multinomial(probabilities, size, replacement=True, generator=dice)
    points = values.gather(1, group)
    deviation = points.std(1, keepdim=True)
    advantages = (points - points.mean(1, keepdim=True)) / deviation.clamp_min(1e-6)
    return -(advantages * known.gather(1, group)).mean(1)
