"""TRL on a model that writes letters: the machinery, not the learning."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from chaosops.core.errors import BadInput, ChaosOpsError, MissingExtra
from chaosops.training.recipe import Recipe
from chaosops.training.run_folder import METRICS
from chaosops.training.trl_run import CHECKPOINTS, train_trl
from tests.conftest import Outcome
from tests.training.letters import save_letter_model

SMOKE = Recipe(
    name="letters",
    seed=1,
    method="trl",
    steps=5,
    prompts_per_step=3,
    group_size=4,
    reply_format="menu",
    max_reply_tokens=1,
    kl=0.01,
    lora_rank=2,
    lora_alpha=4,
    learning_rate=3e-2,
    warmup_steps=1,
    window=4,
    batch_tokens=6_000,
    checkpoint_every=2,
    validate_every=5,
    validation_seeds=1,
    curriculum="easy:3,hard:2",
    shuffle_tiers=False,
    role_shares="sre:1,oversight:1,dev:1,manager:1",
)
UNWATCHED = replace(SMOKE, validate_every=0, steps=3)
WEIGHTS = Path("adapter/adapter_model.safetensors")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_letter_model(tmp_path_factory.mktemp("letters"))


@pytest.fixture(scope="module")
def whole(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    told: list[dict[str, Any]] = []
    assert train_trl(SMOKE, base, folder, tell=told.append) == folder / "adapter"
    assert all("warnings" in row for row in told)
    assert [row["done"] for row in told if "done" in row] == [0.2, 0.4, 0.6, 0.8, 1.0]
    return folder


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / METRICS).read_text().splitlines()]


class Killed(Exception):
    pass


def cut_off(recipe: Recipe, base: Path, folder: Path, moment: int) -> None:
    def fall(row: dict[str, Any]) -> None:
        if row["step"] == moment:
            raise Killed

    with pytest.raises(Killed):
        train_trl(recipe, base, folder, tell=fall)
    # A kill in the middle of a checkpoint leaves half of one.
    (folder / CHECKPOINTS / "checkpoint-4").mkdir(parents=True, exist_ok=True)
    with (folder / METRICS).open("a") as file:
        file.write('{"step": 9')


def test_a_run_leaves_its_recipe_its_metrics_and_an_adapter(whole: Path) -> None:
    assert (whole / "recipe.toml").read_text() == SMOKE.to_toml()
    updates = [row for row in rows_of(whole) if "loss" in row]
    assert [row["step"] for row in updates] == [1, 2, 3, 4, 5]
    for row in updates:
        assert row["reward"] == pytest.approx(sum(row["rubrics"].values()), abs=1e-4)
        assert row["entropy"] > 0
        assert 0 <= row["unreadable"] < 1
        assert {"kl", "spread", "gradient", "learning_rate", "cut_off"} <= set(row)
    assert [row["tiers"] for row in updates] == [{"easy": 3}] * 3 + [{"hard": 3}] * 2
    assert any(row["gradient"] > 0 and row["spread"] > 0 for row in updates)
    config = json.loads((whole / "adapter/adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == "HuggingFaceTB/SmolLM2-135M-Instruct"
    assert (config["r"], config["lora_alpha"]) == (2, 4)
    assert "lm_head" not in config["target_modules"]


def test_cudnn_does_not_attend_to_padding(whole: Path) -> None:
    import torch

    assert not torch.backends.cuda.cudnn_sdp_enabled()


def test_a_run_is_validated_by_playing(whole: Path) -> None:
    (checked,) = (row for row in rows_of(whole) if "validation" in row)
    assert checked["step"] == 5
    assert checked["kl_from_start"] > 0
    assert set(checked["validation"]) == {"easy", "hard"}
    assert checked["validation"]["hard"]["mean_reward"] < 0
    assert checked["validation"]["hard"]["unreadable_replies"] is not None


def test_the_adapter_is_what_peft_reads(base: Path, whole: Path) -> None:
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    ids = torch.tensor([[5, 6, 7]])
    plain = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    with torch.no_grad():
        before = plain(input_ids=ids).logits
        after = PeftModel.from_pretrained(plain, str(whole / "adapter"))(input_ids=ids).logits
    assert not torch.allclose(before, after, atol=1e-3)


def test_a_run_that_was_cut_off_ends_like_one_that_was_not(
    base: Path, whole: Path, tmp_path: Path
) -> None:
    cut_off(SMOKE, base, tmp_path, 3)
    train_trl(SMOKE, base, tmp_path, resume=True)
    for name in (METRICS, WEIGHTS):
        assert (tmp_path / name).read_bytes() == (whole / name).read_bytes(), name


def test_so_does_one_that_goes_on_from_an_adapter(base: Path, whole: Path, tmp_path: Path) -> None:
    recipe = replace(UNWATCHED, start=str(whole / "adapter"), learning_rate=1e-2)
    train_trl(recipe, base, tmp_path / "through")
    for moment in (1, 3):  # before the first checkpoint, and after it
        cut = tmp_path / f"cut{moment}"
        cut_off(recipe, base, cut, moment)
        train_trl(recipe, base, cut, resume=True)
        for name in (METRICS, WEIGHTS):
            assert (cut / name).read_bytes() == (tmp_path / "through" / name).read_bytes()
    # Its distance is counted from the adapter, not from the base below it.
    assert rows_of(tmp_path / "through")[0]["kl"] == pytest.approx(0, abs=1e-6)
    with pytest.raises(BadInput, match="has rank 2 and alpha 4, the recipe 3 and 4"):
        train_trl(replace(recipe, lora_rank=3), base, tmp_path / "other")


def test_a_run_is_not_overwritten_nor_resumed_with_another_recipe(base: Path, whole: Path) -> None:
    with pytest.raises(BadInput, match="holds a run already"):
        train_trl(SMOKE, base, whole)
    with pytest.raises(BadInput, match="another recipe"):
        train_trl(replace(SMOKE, seed=2), base, whole, resume=True)


def test_replies_that_nobody_can_read_cost_what_the_world_says(base: Path, tmp_path: Path) -> None:
    recipe = replace(UNWATCHED, steps=1, reply_format="json", continuation="none", kl=0.0)
    told: list[dict[str, Any]] = []
    train_trl(recipe, base, tmp_path, tell=told.append)
    (row,) = told
    assert row["unreadable"] == 1.0
    assert row["spread"] == 0.0
    assert row["rubrics"]["resolution"] == pytest.approx(-20)
    assert any("the same return" in warning for warning in row["warnings"])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"learning_rate": 1e-12}, "acts like base in every validation episode"),
        ({"kl_abort": 1e-6, "kl_alarm": 1e-7, "steps": 2}, "more than kl_abort"),
    ],
    ids=["stands still", "runs away"],
)
def test_a_run_that_makes_no_sense_is_stopped(
    base: Path, tmp_path: Path, values: dict[str, Any], words: str
) -> None:
    recipe = replace(SMOKE, curriculum="easy:1", validate_every=2, **{"steps": 1, **values})
    with pytest.raises(BadInput, match=words):
        train_trl(recipe, base, tmp_path)
    assert not (tmp_path / "adapter").exists()


def test_what_is_not_finite_stops_the_run(tmp_path: Path) -> None:
    import torch

    from chaosops.training.trl_callback import RunCallback

    watch = RunCallback(SMOKE, tmp_path, print, [], None)
    model = torch.nn.Linear(2, 2)
    model.weight.grad = torch.tensor([[0.0, float("nan")], [0.0, 0.0]])
    state = SimpleNamespace(is_world_process_zero=True, global_step=1)
    with pytest.raises(BadInput, match="gradient is not finite"):
        watch.on_pre_optimizer_step(None, state, None, model=model)
    with pytest.raises(BadInput, match="loss is not finite"):
        watch.on_log(None, state, None, logs={"loss": float("inf")})


@pytest.mark.parametrize(
    ("package", "recipe", "words"),
    [
        ("trl", SMOKE, r"method = 'trl' needs trl.*pip install .*\[train\]'"),
        ("datasets", SMOKE, "needs datasets"),
        ("trackio", replace(SMOKE, track="mine"), r"track = 'mine' needs.*\[track\]"),
    ],
)
def test_what_is_not_installed_is_named_before_anything_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, package: str, recipe: Recipe, words: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=words):
        train_trl(recipe, tmp_path / "base", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_command_line_trains_and_draws(
    base: Path, tmp_path: Path, cli: Callable[..., Outcome]
) -> None:
    recipe = tmp_path / "letters.toml"
    recipe.write_text(replace(UNWATCHED, base=str(base)).to_toml(), encoding="utf-8")
    code, out, err = cli("train", str(recipe), "--out", str(tmp_path / "run"), "--set", "steps=2")
    assert code == 0
    # Progress, which a quick machine has none to report of.
    assert all(line.startswith("letters: ") for line in err.splitlines()), err
    assert f"{base}+adapter={tmp_path / 'run/adapter'}+format=menu" in out
    assert (tmp_path / "run/learning_curve.png").stat().st_size > 10_000


def test_a_base_that_is_nowhere_is_named(tmp_path: Path) -> None:
    with pytest.raises(ChaosOpsError, match="not a name of the hub and not a folder here"):
        train_trl(UNWATCHED, tmp_path / "nothing", tmp_path / "run")
