"""``chaosops train`` as a user runs it, and as a machine kills it."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from chaosops.cli import main
from tests.training.tiny import save_tiny_model

RECIPE = """
steps = 16
window = 4
batch_tokens = 3000
checkpoint_every = 3
validate_every = 8
validation_seeds = 1
learning_rate = 0.03
lora_rank = 2
lora_alpha = 4
curriculum = "easy:1"
"""

# Each line of its input is a command for a process of its own, which can be killed. They share
# what takes longest of such a process: the imports.
STARTER = """
import json, os
import torch
from transformers import AutoTokenizer, LlamaForCausalLM
from chaosops.cli import main

for line in open(os.dup(0)):  # main() prepares sys.stdin, which must not be in use
    child = os.fork()
    if not child:
        os._exit(main(json.loads(line)))
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

QUICKLY = ("--set", "steps=2", "--set", "validate_every=0", "--no-figures")


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recipe")
    base = save_tiny_model(folder / "tiny")
    path = folder / "short.toml"
    path.write_text(f'base = "{base}"\n{RECIPE}', encoding="utf-8")
    return path


def words(recipe: Path, out: Path, *more: str) -> list[str]:
    return ["train", str(recipe), "--out", str(out), "--workers", "1", *more]


def test_killed_at_three_moments_a_run_ends_with_the_same_weights(
    recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert main(words(recipe, whole)) == 0
    assert "step 8 easy: reward" in capsys.readouterr().err
    metrics = broken / "metrics.jsonl"
    moments = sorted(random.Random().sample(range(1, 14), 3))
    with subprocess.Popen(
        [sys.executable, "-c", STARTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as starter:
        assert starter.stdin is not None
        assert starter.stdout is not None
        for moment in moments:
            again = ["--resume"] if metrics.exists() else []
            print(json.dumps(words(recipe, broken, *again)), file=starter.stdin, flush=True)
            run = int(starter.stdout.readline())
            deadline = time.monotonic() + 60
            checkpoint = broken / "checkpoint.pt"
            while time.monotonic() < deadline:
                rows = metrics.read_text().count("\n") if metrics.exists() else 0
                if rows >= moment or (checkpoint.exists() and rows >= moment - 3):
                    break
                time.sleep(0.005)
            with suppress(ProcessLookupError):  # on a busy machine it may be quicker than the kill
                os.kill(run, signal.SIGKILL)
            assert int(starter.stdout.readline()) in (-signal.SIGKILL, 0), moments
        starter.stdin.close()
    assert main(words(recipe, broken, "--resume")) == 0
    for name in ("adapter/adapter_model.safetensors", "metrics.jsonl", "recipe.toml"):
        assert (broken / name).read_bytes() == (whole / name).read_bytes(), (name, moments)
    assert (whole / "learning_curve.png").stat().st_size > 10_000


def test_values_are_replaced_on_the_command_line(
    recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = words(recipe, tmp_path / "run", *QUICKLY)
    assert main([*command, "--rogue-bonus-multiplier", "2.0->1.0"]) == 0
    saved = (tmp_path / "run/recipe.toml").read_text()
    assert "steps = 2\n" in saved
    assert 'rogue_bonus_multiplier = "2.0->1.0"' in saved
    (cost,) = (tmp_path / "run/cost.jsonl").read_text().splitlines()
    assert set(json.loads(cost)) == {"seconds", "machine"}
    assert main(command) == 2  # refused: nothing was spent on this run
    assert len((tmp_path / "run/cost.jsonl").read_text().splitlines()) == 1
    told = capsys.readouterr()
    assert "+adapter=" in told.out
    assert "holds a run already" in told.err


def test_a_run_can_be_followed_in_trackio(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in records what the real library would be handed."""
    seen: list[Any] = []
    fake = ModuleType("trackio")
    vars(fake).update(
        init=lambda **words: seen.append(words),
        log=lambda row, step: seen.append((step, row)),
        finish=lambda: seen.append("finished"),
    )
    monkeypatch.setitem(sys.modules, "trackio", fake)
    command = words(recipe, tmp_path / "run", *QUICKLY, "--set", "track=rogues")
    assert main(command) == 0
    assert seen[0] == {"project": "rogues", "name": "short"}
    assert [row[0] for row in seen[1:-1]] == [1, 2]
    assert seen[1][1]["loss"] > 0
    assert any(name.startswith("regret/") for name in seen[1][1])
    assert seen[-1] == "finished"


def test_following_a_run_without_the_library_says_how_to_get_it(
    recipe: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "trackio", None)
    assert main(["train", str(recipe), "--out", str(tmp_path / "run"), "--set", "track=x"]) == 2
    assert "[track]'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        (["--set", "steps"], "write NAME=VALUE"),
        (["--set", "stepz=3"], "did you mean 'steps'"),
        (["--rogue-bonus-multiplier", "lots"], "write 1.5, or 2.0->1.0"),
        (["--set", "split=test"], "test"),
        (["--set", "base=local:smollm9"], "did you mean 'smollm2'"),
        (["--set", "base=/nowhere"], "base = '/nowhere' is not a model"),
        (["--set", "base=/etc/hostname"], "is not a model"),
        (["--set", "base=hf:"], "is not a name of the hub"),
        (["--set", "base=hf:a/b@"], "is not a name of the hub"),
        (["--set", "base=hf:a/b/c@main"], "is not a name of the hub"),
        (["--set", "learning_rate=inf"], "learning_rate must be above 0"),
        (["--set", "learning_rate=nan"], "learning_rate must be above 0"),
        (["--set", "checkpoint_every=0"], "checkpoint_every must be from 1"),
        (["--set", "validation_seeds=0"], "validation_seeds must be from 1"),
        (["--set", "warmup_steps=-5"], "warmup_steps must be from 0"),
        (["--set", "first_seed=0"], "first_seed must be from 12"),
        (["--set", "first_seed=2000007"], "would train on the validation seeds"),
        (["--only-turns"], "--only-turns needs --turns FOLDER"),
        (["--set", "method=trl", "--turns", "kept"], "--turns needs method = 'menu'"),
    ],
)
def test_mistakes_are_told_before_anything_is_loaded(
    recipe: Path,
    tmp_path: Path,
    mistake: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["train", str(recipe), "--out", str(tmp_path / "run"), *mistake]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", ""),
        ("config.json", "[]"),
        ("config.json", '{"model_type": "gpt9"}'),
        ("config.json", '{"model_type": "llama", "hidden_size": "wide"}'),
        ("tokenizer.json", "{"),
        ("tokenizer_config.json", "[]"),
        ("model.safetensors", ""),
        ("model.safetensors", "\x00" * 64),
    ],
)
def test_a_base_that_is_no_model_is_one_line(
    recipe: Path, tmp_path: Path, name: str, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    base = shutil.copytree(recipe.parent / "tiny", tmp_path / "base")
    (base / name).write_text(content)
    assert main(words(recipe, tmp_path / "run", "--set", f"base={base}")) == 2
    told = capsys.readouterr().err
    assert "is not a model" in told
    assert len([line for line in told.splitlines() if line.startswith("chaosops: ")]) == 1


def test_a_base_with_other_layers_is_one_line(
    recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    base = shutil.copytree(recipe.parent / "tiny", tmp_path / "base")
    for stale in ("config.json", "model.safetensors"):
        (base / stale).unlink()
    GPT2LMHeadModel(GPT2Config(n_embd=8, n_layer=1, n_head=1)).save_pretrained(base)
    assert main(words(recipe, tmp_path / "run", "--set", f"base={base}")) == 2
    assert "choose method = 'trl'" in capsys.readouterr().err


def test_without_a_recipe_the_names_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train"]) == 0
    shown = capsys.readouterr().out
    assert "  smoke " in shown
    assert "  published/phase_3a " in shown


def test_an_unknown_recipe_comes_with_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "smok"]) == 2
    shown = capsys.readouterr().err
    assert "unknown recipe 'smok'" in shown
    assert "did you mean 'smoke'" in shown


def test_outdated_keys_are_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "old.toml"
    path.write_text("finish = 'none'\npartners = 'oracle'\nbase = 'none'\n")
    assert main(["train", str(path), "--out", str(tmp_path / "run")]) == 2
    shown = capsys.readouterr().err
    assert "finish is now called continuation" in shown
    assert "partners has no effect any more" in shown
