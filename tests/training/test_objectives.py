from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chaosops.core.vocabulary import Role, Tier
from chaosops.training.credited_turns import CreditedTurn
from chaosops.training.objectives import batch_loss, returns_table
from chaosops.training.recipe import Recipe

RECIPE = Recipe(temperature=4.0)


def states(*gains: dict[str, float]) -> Any:
    import torch

    rows = [CreditedTurn((), given, Role.OVERSIGHT, "arena", Tier.HARD) for given in gains]
    return returns_table(torch, rows, 0.0, torch.device("cpu"))


def trained(table: Any, recipe: Recipe, start: Any | None = None, steps: int = 1200) -> Any:
    """One policy for all rows, as when they cannot be told apart."""
    import torch

    logits = torch.zeros(52) if start is None else start.clone()
    logits.requires_grad_(True)
    optimizer = torch.optim.Adam([logits], lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        batch_loss(torch, logits.expand(len(table), 52), table, recipe).loss.backward()
        optimizer.step()
    absent = table[0].isinf()
    return torch.softmax(logits.detach().masked_fill(absent, float("-inf")), dim=0)


def test_matching_ends_at_the_softmax_of_the_returns() -> None:
    import torch

    chances = trained(states({"A": 8.0, "B": 4.0, "C": 0.0}), RECIPE)
    assert chances[:3].tolist() == pytest.approx(
        torch.softmax(torch.tensor([2.0, 1.0, 0.0]), 0).tolist(), abs=0.01
    )


def test_improving_prefers_what_is_good_in_every_case() -> None:
    """Of two suspects one did it, nobody knows which: A looks, B and C accuse."""
    table = states({"A": 100, "B": 140, "C": 20}, {"A": 100, "B": 20, "C": 140})
    matched = trained(table, RECIPE)
    assert matched[0] < min(matched[1], matched[2])
    improved = trained(table, replace(RECIPE, objective="improve", temperature=30.0))
    assert improved[0] > 0.9


def test_labels_off_the_menu_have_no_part_in_it() -> None:
    import torch

    table = states({"A": 1.0, "C": 2.0})
    logits = torch.zeros(1, 52, requires_grad=True)
    batch_loss(torch, logits, table, RECIPE).loss.backward()
    assert logits.grad is not None
    assert logits.grad[0, 1] == 0
    assert logits.grad[0, 3:].abs().sum() == 0


def test_regret_is_what_the_likeliest_action_loses() -> None:
    import torch

    logits = torch.zeros(2, 52)
    logits[0, 1] = logits[1, 0] = 5.0
    found = batch_loss(torch, logits, states({"A": 10, "B": 3}, {"A": 10, "B": 3}), RECIPE)
    assert found.regret.tolist() == [7.0, 0.0]


def test_doing_nothing_is_ahead_by_its_bonus() -> None:
    import torch

    row = CreditedTurn((), {"A": 1.0, "C": 2.0}, Role.OVERSIGHT, "arena", Tier.HARD)
    table = returns_table(torch, [row], 4.0, torch.device("cpu"))
    assert table[0, :3].tolist() == [5.0, float("-inf"), 2.0]


def test_drawn_groups_move_towards_the_better_reply() -> None:
    import torch

    recipe = replace(RECIPE, objective="sample", group_size=8)
    table = states({"A": 0.0, "B": 10.0})
    logits = torch.zeros(1, 52, requires_grad=True)
    found = batch_loss(torch, logits, table, recipe, draw=1)
    found.loss.backward()
    assert logits.grad is not None
    assert logits.grad[0, 1] < 0 < logits.grad[0, 0]
    assert batch_loss(torch, logits, table, recipe, draw=1).loss == found.loss
    sure = torch.full((1, 52), -60.0)
    sure[0, 1] = 60.0
    assert batch_loss(torch, sure, table, recipe, draw=1).loss == 0  # a group of equals


def test_a_start_holds_a_run_back() -> None:
    import torch

    table, first = states({"A": 0.0, "B": 10.0}), torch.zeros(1, 52)
    recipe = replace(RECIPE, objective="improve", temperature=30.0)
    logits = torch.zeros(52, requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=0.05)
    held = replace(recipe, kl=0.5)
    for _ in range(600):
        optimizer.zero_grad()
        batch_loss(torch, logits[None], table, held, start=first).loss.backward()
        optimizer.step()
    chance = torch.softmax(logits.detach()[:2], dim=0)[1]
    # Maximises p * 10 / 30 - 0.5 * KL(p, half): logit 1 / 1.5.
    assert chance == pytest.approx(1 / (1 + torch.tensor(-1 / 1.5).exp().item()), abs=0.01)
    assert trained(table, recipe)[1] > 0.99
