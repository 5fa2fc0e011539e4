"""Each remedy for groups whose replies are all the same does what it says."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.errors import BadInput
from chaosops.training.process_group import ProcessGroup
from chaosops.training.recipe import Recipe
from chaosops.training.run_folder import METRICS
from chaosops.training.single_turns import TurnKey, judge, legal_replies, prompts_of
from chaosops.training.trl_run import train_trl
from tests.training.letters import save_letter_model
from tests.training.test_trl_run import UNWATCHED, WEIGHTS, cut_off, rows_of

PLAIN = replace(UNWATCHED, kl=0.0, continuation="oracle")
FULL = replace(
    PLAIN,
    steps=6,
    virtual_best=1,
    virtual_gamma=0.1,
    floor=0.5,
    floor_steps=8,
    keep_groups=0.7,
    reuse=2,
    bound_bad=1.0,
    entropy_target=3.0,
    entropy_step=0.01,
    idle_reward=-3.0,
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_letter_model(tmp_path_factory.mktemp("letters"))


def trainer_of(recipe: Recipe, base: Path, folder: Path) -> Any:
    from chaosops.training.trl_trainer import build_trainer

    trainer = build_trainer(recipe, base, folder, prompts_of(recipe), ProcessGroup())
    trainer.current_gradient_accumulation_steps = trainer.args.steps_per_generation
    trainer.model.train()
    return trainer


def answered(trainer: Any) -> tuple[list[dict[str, Any]], list[str], dict[str, Any]]:
    """The rows of the first update, their replies, and what goes to the loss."""
    recipe = trainer._recipe
    rows = [
        dict(trainer.train_dataset[place])
        for place in range(recipe.prompts_per_step)
        for _ in range(recipe.group_size)
    ]
    output = trainer._generate_and_score_completions(rows)
    kept = output["completion_mask"].bool()
    replies = [
        trainer.processing_class.decode(ids[mask], skip_special_tokens=True)
        for ids, mask in zip(output["completion_ids"], kept, strict=True)
    ]
    return rows, replies, output


def key_of(row: dict[str, Any]) -> TurnKey:
    return TurnKey(row["episode"], row["turn"], row["progress"])


@pytest.mark.parametrize("reply_format", ["menu", "json"])
def test_the_best_legal_reply_is_in_each_group(
    base: Path, tmp_path: Path, reply_format: str
) -> None:
    room = {"menu": 1, "json": 128}[reply_format]
    recipe = replace(
        PLAIN, virtual_best=1, reply_format=reply_format, max_reply_tokens=room, group_size=3
    )
    trainer = trainer_of(recipe, base, tmp_path)
    rows, replies, output = answered(trainer)
    assert [row["own"] for row in rows] == [False, True, True] * 3
    assert output["origin_given"].tolist() == [not row["own"] for row in rows]
    for row, reply in list(zip(rows, replies, strict=True))[::3]:
        rewards = legal_replies(recipe, key_of(row))
        assert rewards[reply] == max(rewards.values())
        judged = judge(recipe, key_of(row), reply)
        assert judged.action.verb != "unreadable"
        assert sum(judged.rubrics.values()) == pytest.approx(rewards[reply])
        if reply_format == "json":
            assert json.loads(reply)["action"] == judged.action.verb
    assert all(value >= -1e-3 for value in output["advantages"][::3].tolist())
    assert any(value > 0.5 for value in output["advantages"][::3].tolist())


def test_a_model_that_never_writes_json_learns_from_the_best_reply(
    base: Path, tmp_path: Path
) -> None:
    recipe = replace(
        PLAIN,
        steps=2,
        virtual_best=1,
        virtual_gamma=0.1,
        floor=0.2,
        bound_bad=0.5,
        reply_format="json",
        max_reply_tokens=96,
    )
    train_trl(recipe, base, tmp_path)
    for row in rows_of(tmp_path):
        assert row["unreadable"] == 1.0
        assert row["spread"] == 1.0  # without the best reply: 0
        assert row["gradient"] > 0


def test_a_reply_that_does_not_fit_is_no_virtual_best(base: Path, tmp_path: Path) -> None:
    recipe = replace(PLAIN, virtual_best=1, reply_format="json", max_reply_tokens=2)
    with pytest.raises(BadInput, match="raise max_reply_tokens"):
        answered(trainer_of(recipe, base, tmp_path))


def test_under_a_floor_legal_replies_are_drawn_and_their_odds_are_known(
    base: Path, tmp_path: Path
) -> None:
    recipe = replace(PLAIN, floor=0.9, floor_steps=100, group_size=8)
    trainer = trainer_of(recipe, base, tmp_path)
    rows, replies, output = answered(trainer)
    assert sum(row["own"] for row in rows) < 12  # of 24
    for row, reply, odds in zip(rows, replies, output["origin_odds"].tolist(), strict=True):
        # This model writes labels of two letters in two tokens.
        legal = [label for label in legal_replies(recipe, key_of(row)) if len(label) == 1]
        assert row["own"] or reply in legal
        assert odds == pytest.approx(1 / len(legal) if reply in legal else 0.0)
    trainer.state.global_step = 100
    rows, _, output = answered(trainer)
    assert all(row["own"] for row in rows)
    assert not output["origin_floor"].any()


def test_only_the_groups_that_differ_most_count(base: Path, tmp_path: Path) -> None:
    recipe = replace(PLAIN, virtual_best=1, keep_groups=0.34)
    _, _, output = answered(trainer_of(recipe, base, tmp_path))
    groups = output["advantages"].view(3, 4)
    assert sum(bool(group.any()) for group in groups) == 1
    # The sum of three groups is in one: an advantage is at most (n - 1) / sqrt(n) = 1.5.
    assert groups.abs().max() > 1.5


def gradient(
    trainer: Any, monkeypatch: pytest.MonkeyPatch, probability: float, **inputs: Any
) -> float:
    """How TRL's loss pushes the log-probability of the one token of one reply."""
    import torch

    logs = torch.tensor([[probability]]).log().requires_grad_()
    monkeypatch.setattr(trainer, "_of_labels", lambda *_: (logs, torch.zeros(1, 1)))
    one = torch.ones(1, 1, dtype=torch.long)
    found = {
        "prompt_ids": one,
        "prompt_mask": one,
        "completion_ids": one,
        "completion_mask": one,
        "num_items_in_batch": torch.tensor(1.0),
        "origin_given": torch.tensor([False]),
        "origin_floor": torch.tensor([0.0]),
        "origin_odds": torch.tensor([0.0]),
    } | {name: torch.tensor([value]) for name, value in inputs.items()}
    trainer._compute_loss(None, found).backward()
    assert logs.grad is not None
    return -float(logs.grad)


def test_the_loss_pushes_replies_as_the_recipe_says(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = replace(PLAIN, virtual_best=1, virtual_gamma=0.1, floor=0.5)
    trainer = trainer_of(recipe, base, tmp_path)

    def push(probability: float, advantage: float, **inputs: Any) -> float:
        return gradient(trainer, monkeypatch, probability, advantages=advantage, **inputs)

    assert push(0.02, 2.0) == pytest.approx(2.0)  # drawn by the model
    # p / (p + 0.1): far more than the ratio p, which has almost no gradient where p is small.
    assert push(0.02, 2.0, origin_given=True) == pytest.approx(2 * 0.1 * 0.02 / 0.12**2)
    assert push(0.99, 2.0, origin_given=True) < 0.2
    # Drawn with probability 0.5 * 0.02 + 0.5 * 0.1 = 0.06: a third of the push, if it was good.
    rare = {"origin_floor": 0.5, "origin_odds": 0.1}
    assert push(0.02, 2.0, **rare) == pytest.approx(2 / 3)
    assert push(0.02, -2.0, **rare) == 0.0  # TRL clips a ratio below 0.8
    assert push(0.9, 2.0, **rare) == 0.0  # and one above 1.2
    trainer._recipe = replace(recipe, bound_bad=1.0, virtual_gamma=0.0)
    assert push(0.02, 2.0, **rare) == pytest.approx(2.0)
    assert push(0.02, -2.0, **rare) == pytest.approx(-2 / 3)
    assert push(0.9, -2.0, **rare) == pytest.approx(-2.0)
    assert push(0.02, 2.0, origin_given=True) == pytest.approx(2.0)
    trainer._recipe = replace(trainer._recipe, bound_bad=0.5)
    assert push(0.02, -2.0, **rare) == pytest.approx(-2 / 3)
    assert push(0.9, -2.0) == pytest.approx(-1.0)
    assert push(0.9, 2.0) == pytest.approx(2.0)


def test_clipping_may_be_asymmetric(base: Path, tmp_path: Path) -> None:
    trainer = trainer_of(replace(PLAIN, steps=2, reuse=2, clip_high=0.5), base, tmp_path)
    assert (trainer.epsilon_low, trainer.epsilon_high) == (0.2, 0.5)
    assert trainer.num_iterations == 2
    plain = trainer_of(PLAIN, base, tmp_path)
    assert (plain.epsilon_low, plain.epsilon_high, plain.num_iterations) == (0.2, 0.2, 1)


def test_the_entropy_bonus_rises_below_its_target_and_falls_above_it(
    base: Path, tmp_path: Path
) -> None:
    recipe = replace(PLAIN, entropy_target=100.0, entropy_step=0.01, entropy=0.05)
    train_trl(recipe, base, tmp_path / "below")
    found = [row["entropy_coef"] for row in rows_of(tmp_path / "below")]
    assert found == pytest.approx([0.06, 0.07, 0.08])
    train_trl(replace(recipe, entropy_target=1e-6), base, tmp_path / "above")
    found = [row["entropy_coef"] for row in rows_of(tmp_path / "above")]
    assert found == pytest.approx([0.04, 0.03, 0.02])


def test_doing_nothing_can_cost_something(base: Path, tmp_path: Path) -> None:
    recipe = replace(PLAIN, idle_reward=-50.0)
    keys = [prompt.key for prompt in prompts_of(recipe)]
    for key in keys[:5]:
        with_cost, without = legal_replies(recipe, key), legal_replies(PLAIN, key)
        lost = {reply: without[reply] - with_cost[reply] for reply in without}
        (noop,) = (reply for reply, cost in lost.items() if cost)
        assert lost[noop] == pytest.approx(50.0)
        assert judge(recipe, key, noop).action.verb == "noop"
    train_trl(replace(recipe, steps=1, group_size=32), base, tmp_path)
    (row,) = rows_of(tmp_path)
    assert row["noop"] > 0
    assert row["own_reward"] == pytest.approx(sum(row["rubrics"].values()), abs=1e-4)
    assert row["reward"] == pytest.approx(row["own_reward"] - 50 * row["noop"], abs=1e-3)


def test_a_run_with_every_remedy_resumes_exactly(base: Path, tmp_path: Path) -> None:
    train_trl(FULL, base, tmp_path / "whole")
    rows = rows_of(tmp_path / "whole")
    assert [row["step"] for row in rows] == [1, 2, 3, 4, 5, 6]
    for first, second in list(pairwise(rows))[::2]:  # two updates from the same replies
        assert first["own_reward"] == second["own_reward"]
        assert first["loss"] != second["loss"]
    cut_off(FULL, base, tmp_path / "cut", 3)
    train_trl(FULL, base, tmp_path / "cut", resume=True)
    for name in (METRICS, WEIGHTS):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"bound_bad": 1.0}, "set reuse = 2, or a floor"),
        ({"clip_high": 0.28}, "set reuse = 2, or a floor"),
        ({"floor": 0.1, "bound_bad": 1.0, "clip_high": 0.28}, "leave clip_high out"),
        ({"virtual_gamma": 0.1}, "needs virtual_best, or a floor"),
        ({"reuse": 2, "checkpoint_every": 5}, "a multiple of reuse = 2"),
        ({"keep_groups": 0.0}, "keep_groups must be above 0"),
        ({"method": "menu", "floor": 0.1, "reply_format": "json"}, "floor has no effect"),
    ],
)
def test_a_remedy_without_effect_is_refused(values: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        Recipe(**({"method": "trl"} | values))
