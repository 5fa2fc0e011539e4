"""Menu replies in TRL's trainer: drawn from the labels offered, each prompt computed once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chaosops.training.recipe import Recipe
from chaosops.training.single_turns import (
    Judge,
    judge,
    judged_ahead,
    labels_of,
    legal_replies,
    prompts_of,
)
from chaosops.training.trl_run import train_trl
from tests.training.letters import save_letter_model
from tests.training.test_trl_grpo import PLAIN, answered, key_of, trainer_of
from tests.training.test_trl_run import rows_of


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_letter_model(tmp_path_factory.mktemp("letters"))


def spread_out(trainer: Any) -> None:
    """Give the adapter something to do: PEFT starts with BA = 0."""
    import torch

    torch.manual_seed(3)
    for name, param in trainer.model.named_parameters():
        if "lora_B" in name:
            param.data = 0.05 * torch.randn_like(param)


def gradients(trainer: Any, output: dict[str, Any]) -> dict[str, Any]:
    trainer.model.zero_grad()
    trainer._compute_loss(trainer.model, output).backward()
    return {n: p.grad.clone() for n, p in trainer.model.named_parameters() if p.grad is not None}


def test_only_labels_of_the_menu_are_written(base: Path, tmp_path: Path) -> None:
    recipe = replace(PLAIN, group_size=32)
    rows, replies, _ = answered(trainer_of(recipe, base, tmp_path))
    offered = [labels_of(recipe, key_of(row)) for row in rows]
    assert all(reply in labels for reply, labels in zip(replies, offered, strict=True))
    assert len(set(replies[:32])) > 1


def test_a_menu_reply_is_drawn_and_rated_among_the_labels_offered(
    base: Path, tmp_path: Path
) -> None:
    """The loss has the log-probabilities of a plain forward pass, restricted to the menu."""
    import torch

    trainer = trainer_of(PLAIN, base, tmp_path)
    spread_out(trainer)
    rows, replies, output = answered(trainer)
    ids = torch.cat([output["prompt_ids"], output["completion_ids"]], 1)
    trainer._inputs = {**output}
    with torch.no_grad():
        found = trainer._get_per_token_logps_and_entropies(trainer.model, ids)
    logs, entropies = (values.detach() for values in found[:2])
    trainer._inputs = None
    tokenizer = trainer.processing_class
    for row, reply, log, entropy in zip(rows, replies, logs, entropies, strict=True):
        prompt = tokenizer.apply_chat_template(
            row["prompt"], add_generation_prompt=True, return_dict=False
        )
        plain = trainer.model(input_ids=torch.tensor([prompt])).logits[0, -1]
        labels = [label for label in labels_of(PLAIN, key_of(row)) if len(label) == 1]
        tokens = [tokenizer.encode(label, add_special_tokens=False)[0] for label in labels]
        expected = torch.log_softmax(plain[tokens], 0).detach()
        assert float(log) == pytest.approx(float(expected[labels.index(reply)]), abs=1e-4)
        assert float(entropy) == pytest.approx(float(-(expected.exp() * expected).sum()), abs=1e-4)


def test_gradients_do_not_depend_on_the_passes(base: Path, tmp_path: Path) -> None:
    """Neither on the number of passes nor on whether the pass of the drawing is used again."""
    import torch

    found = []
    for number, tokens in enumerate((1_000_000, 1_000, 1_000_000, 7_000)):
        recipe = replace(PLAIN, batch_tokens=tokens, virtual_best=1)
        trainer = trainer_of(recipe, base, tmp_path / str(number))
        spread_out(trainer)
        _, _, output = answered(trainer)
        if number == 2:
            trainer._logs_at_drawing = None
        found.append(gradients(trainer, output))
    assert any(grad.abs().max() > 0 for grad in found[0].values())
    for other in found[1:]:
        for name, grad in found[0].items():
            assert torch.allclose(grad, other[name], atol=1e-6, rtol=1e-4), name


def test_each_prompt_is_computed_once(base: Path, tmp_path: Path) -> None:
    trainer = trainer_of(replace(PLAIN, group_size=16), base, tmp_path)
    computed: list[int] = []
    embeddings = trainer.model.get_input_embeddings()
    embeddings.register_forward_hook(lambda _, args, out: computed.append(len(args[0])))
    _, _, output = answered(trainer)
    gradients(trainer, output)
    assert sum(computed) == PLAIN.prompts_per_step


def test_one_product_gives_what_peft_gives(base: Path, tmp_path: Path) -> None:
    import torch

    trainer = trainer_of(PLAIN, base, tmp_path)
    spread_out(trainer)
    ids = torch.tensor([[5, 6, 7]])
    once = trainer.model(input_ids=ids).logits
    for layer in trainer.model.modules():
        vars(layer).pop("forward", None) if hasattr(layer, "lora_A") else None
    assert torch.allclose(once, trainer.model(input_ids=ids).logits, atol=1e-5)
    with trainer.model.disable_adapter():
        assert not torch.allclose(once, trainer.model(input_ids=ids).logits, atol=1e-3)


def test_a_run_on_a_menu_has_no_unreadable_reply(base: Path, tmp_path: Path) -> None:
    # Groups so large that their replies differ: a learner that still acts like its base is stopped.
    recipe = replace(PLAIN, validate_every=3, curriculum="easy:1", group_size=16)
    train_trl(recipe, base, tmp_path)
    *updates, checked = rows_of(tmp_path)
    assert [row["unreadable"] for row in updates] == [0.0] * 3
    assert all(row["prompt_tokens"] > 100 for row in updates)
    assert checked["validation"]["easy"]["unreadable_replies"] == 0
    assert checked["kl_from_start"] > 0


def test_turns_without_a_difference_can_be_left_out() -> None:
    recipe = Recipe(method="trl", steps=40, prompts_per_step=1, reply_format="menu")
    assert any(len(set(legal_replies(recipe, p.key).values())) == 1 for p in prompts_of(recipe))
    told = replace(recipe, skip_equal=True)
    assert len(prompts_of(told)) == 40
    assert all(len(set(legal_replies(told, p.key).values())) > 1 for p in prompts_of(told))


def test_what_is_judged_ahead_is_what_the_world_says() -> None:
    recipe = Recipe(
        method="trl", steps=3, prompts_per_step=1, reply_format="menu", idle_reward=-3.0
    )
    prompts = [judged_ahead(recipe, prompt) for prompt in prompts_of(recipe)]
    ahead = Judge(recipe, prompts)
    for prompt in prompts:
        assert ahead.rewards(prompt.key) == pytest.approx(legal_replies(recipe, prompt.key))
        for reply in prompt.replies:
            assert ahead(prompt.key, reply) == judge(recipe, prompt.key, reply)
        assert ahead(prompt.key, "no label").action.verb == "unreadable"


def test_nothing_about_a_run_is_sent(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(
        "trl.trainer.base_trainer.send_telemetry", lambda *args, **_: sent.append(args)
    )
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    train_trl(replace(PLAIN, steps=1), base, tmp_path)
    assert not sent
