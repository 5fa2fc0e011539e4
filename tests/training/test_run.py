"""Training end to end on a model of two thin layers: the machinery, not the learning."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.labels import LETTERS
from chaosops.policies.llm.weights import HUB_NAME, embedded_dense
from chaosops.policies.registry import default_policies
from chaosops.report.training_figures import read_metrics
from chaosops.training.learner import Learner, hub_name
from chaosops.training.recipe import Recipe
from chaosops.training.run import train
from chaosops.training.run_folder import METRICS
from chaosops.training.story import BASELINES, STORY, read_companies, read_story
from chaosops.wire.episodes import from_record
from chaosops.workers import Engine
from tests.training.smoke import LOOKING, SMOKE, weights_of


@pytest.fixture(scope="module")
def smoked(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("smoked") / "run"
    assert train(SMOKE, base, folder) == folder / "adapter"
    return folder


class Killed(Exception):
    pass


DRAWN = replace(SMOKE, continuation="none", objective="sample", group_size=4)
READING = replace(SMOKE, reading=1.0, act_bonus=6.0, plain_first=0.5, flag_now=True)


@pytest.mark.parametrize(
    ("recipe", "moments"),
    [
        # Before the first checkpoint, at one, and at the end. Where a run is cut off is all the
        # same to a recipe; what it goes on with after a checkpoint is not.
        (SMOKE, (1, 4, 5)),
        (LOOKING, (3,)),
        (DRAWN, (3,)),
        (READING, (3,)),
    ],
    ids=["oracle", "lookahead", "drawn", "reading"],
)
def test_a_run_that_was_cut_off_ends_like_one_that_was_not(
    recipe: Recipe, moments: tuple[int, ...], base: Path, smoked: Path, tmp_path: Path
) -> None:
    import torch

    whole = smoked
    if recipe is not SMOKE:
        whole = tmp_path / "whole"
        train(recipe, base, whole)
    for moment in moments:
        cut = tmp_path / f"cut{moment}"

        def fall(row: dict[str, Any], moment: int = moment) -> None:
            if row["step"] == moment:
                raise Killed

        with pytest.raises(Killed):
            train(recipe, base, cut, tell=fall)
        train(recipe, base, cut, resume=True)
        found, wanted = weights_of(cut), weights_of(whole)
        assert all(torch.equal(found[name], wanted[name]) for name in wanted)
        assert (cut / METRICS).read_bytes() == (whole / METRICS).read_bytes()


def test_workers_change_nothing_but_the_time(base: Path, tmp_path: Path) -> None:
    import torch

    recipe = replace(LOOKING, steps=3, kl=0.0)
    train(recipe, base, tmp_path / "one", engine=Engine(1))
    train(recipe, base, tmp_path / "two", engine=Engine(2))
    alone, helped = weights_of(tmp_path / "one"), weights_of(tmp_path / "two")
    assert all(torch.equal(alone[name], helped[name]) for name in alone)


def test_no_adapter_names_the_folder_of_the_embedded_model(tmp_path: Path) -> None:
    assert hub_name("local:smollm2") == hub_name(str(embedded_dense())) == HUB_NAME
    assert hub_name("hf:Qwen/Qwen2.5-0.5B-Instruct@main") == "Qwen/Qwen2.5-0.5B-Instruct"
    assert hub_name(str(tmp_path)) == str(tmp_path)


def test_a_run_leaves_its_recipe_and_its_metrics(smoked: Path) -> None:
    assert (smoked / "recipe.toml").read_text() == SMOKE.to_toml()
    rows = [json.loads(line) for line in (smoked / METRICS).read_text().splitlines()]
    assert [row["step"] for row in rows] == list(range(1, 6))
    assert all(row["states"] > 0 and row["entropy"] > 0 for row in rows)
    config = json.loads((smoked / "adapter/adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == "HuggingFaceTB/SmolLM2-135M-Instruct"


def test_the_adapter_is_what_peft_reads(base: Path, smoked: Path) -> None:
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    again = Learner(base, replace(SMOKE, start=str(smoked / "adapter")))
    chat = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"})
    (prompt,) = again.encode([chat])
    tokenizer = AutoTokenizer.from_pretrained(base)
    assert prompt == tokenizer.apply_chat_template(
        list(chat), add_generation_prompt=True, return_dict=False
    )
    plain = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    with torch.no_grad():
        ours = again.logits([prompt])
        hidden = PeftModel.from_pretrained(plain, str(smoked / "adapter"))(
            input_ids=torch.tensor([prompt])
        ).logits[0, -1]
    assert torch.allclose(ours[0], hidden[again._tokens(len(LETTERS))], atol=1e-4)


def test_a_run_is_not_overwritten_nor_resumed_with_another_recipe(
    base: Path, tmp_path: Path
) -> None:
    train(replace(SMOKE, steps=1, checkpoint_every=1), base, tmp_path)
    with pytest.raises(BadInput, match="holds a run already"):
        train(SMOKE, base, tmp_path)
    with pytest.raises(BadInput, match="another recipe"):
        train(SMOKE, base, tmp_path, resume=True)


def test_a_run_is_validated_as_it_goes(base: Path, tmp_path: Path) -> None:
    recipe = replace(SMOKE, steps=2, validate_every=1, validation_seeds=1, learning_rate=0.3)
    told: list[dict[str, Any]] = []
    train(recipe, base, tmp_path, tell=told.append)
    checked = [row for row in told if "validation" in row]
    assert [row["step"] for row in checked] == [1, 2]
    assert set(checked[0]["validation"]) == {"easy", "hard"}
    assert checked[0]["validation"]["hard"]["mean_reward"] < 0
    assert checked[1]["kl_from_start"] > 0
    baselines = json.loads((tmp_path / BASELINES).read_text())
    assert list(baselines) == default_policies(recipe.pack)
    assert baselines["oracle"]["hard"]["solved"] == 1.0
    counts = read_companies(tmp_path, read_metrics(tmp_path / METRICS)[1])
    assert {tier: row["all"] for tier, row in counts.items()} == {"easy": 1, "hard": 1}
    story = read_story(tmp_path / STORY)
    assert [row["step"] for row in story] == [0, 1, 2]
    rewards = [from_record(row["record"]).reward for row in story]
    hard = [read_metrics(tmp_path / METRICS)[1][i]["validation"]["hard"] for i in range(3)]
    assert rewards == pytest.approx([row["mean_reward"] for row in hard]), "one seed, one episode"


def test_a_run_stops_by_the_reserve_and_keeps_its_best(base: Path, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file

    recipe = replace(
        SMOKE,
        steps=30,
        validate_every=1,
        validation_seeds=1,
        curriculum="easy:1",
        learning_rate=0.3,
        reserve="reserve",
        patience=2,
    )
    told: list[dict[str, Any]] = []
    train(recipe, base, tmp_path, tell=told.append)
    checked = [row for row in told if "validation" in row]
    assert set(checked[0]["validation"]) == {"easy", "reserve easy"}
    rewards = [row["validation"]["reserve easy"]["mean_reward"] for row in checked]
    best = rewards.index(max(rewards))
    assert len(rewards) == min(best + 3, 30)
    kept = load_file(tmp_path / "best" / "adapter_model.safetensors")
    assert all(torch.equal(weight, kept[name]) for name, weight in weights_of(tmp_path).items())
    rows = [json.loads(line) for line in (tmp_path / METRICS).read_text().splitlines()]
    assert read_metrics(tmp_path / METRICS)[1][-1] == rows[-1]
    train(recipe, base, tmp_path, resume=True)  # it is over
    assert [json.loads(x) for x in (tmp_path / METRICS).read_text().splitlines()] == rows


def test_a_learner_that_stands_still_trips_the_wire(base: Path, tmp_path: Path) -> None:
    recipe = replace(SMOKE, steps=2, validate_every=1, validation_seeds=1, learning_rate=1e-12)
    with pytest.raises(BadInput, match="acts like base in every validation episode"):
        train(recipe, base, tmp_path)


def test_a_learner_that_runs_away_is_stopped(base: Path, tmp_path: Path) -> None:
    recipe = replace(SMOKE, steps=3, validate_every=2, validation_seeds=1, learning_rate=1.0)
    with pytest.raises(BadInput, match="more than kl_abort"):
        train(replace(recipe, kl_abort=0.001), base, tmp_path)


def test_a_number_of_episodes_ends_a_run(base: Path, tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    recipe = replace(SMOKE, steps=500, episodes=8)
    train(recipe, base, tmp_path / "run", tell=told.append)
    assert told[-1]["done"] == 1.0
    assert 2 <= len(told) < 100
    assert told[-1]["learning_rate"] < told[0]["learning_rate"]


def test_what_an_early_end_left_behind_is_not_taken_for_the_new_run(
    base: Path, tmp_path: Path
) -> None:
    (tmp_path / "start.json").write_text('{"base": "", "chances": [], "validation": {}}')
    (tmp_path / METRICS).write_text('{"step": 1}\n')
    train(replace(SMOKE, steps=2), base, tmp_path)
    rows = [json.loads(line) for line in (tmp_path / METRICS).read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2]
    assert "loss" in rows[0]
    assert not (tmp_path / "start.json").exists()
