from __future__ import annotations

from pathlib import Path

import pytest

from chaosops.core.errors import ChaosOpsError
from chaosops.training.recipe import Recipe, load_recipe, read_curriculum


def test_a_recipe_survives_being_saved(tmp_path: Path) -> None:
    recipe = Recipe(name="x", learning_rate=2e-5, rogue_bonus_multiplier="2.0->1.0", steps=7)
    path = tmp_path / "x.toml"
    path.write_text(recipe.to_toml(), encoding="utf-8")
    assert load_recipe(path) == recipe


def test_every_value_can_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("learning_rate = 1e-5\nlora_rank = 32\n", encoding="utf-8")
    given = {"learning_rate": "3e-4", "curriculum": "hard:2", "entropy": "1", "base": "hf:a/b"}
    recipe = load_recipe(path, given)
    assert (recipe.name, recipe.lora_rank, recipe.learning_rate) == ("mine", 32, 3e-4)
    assert (recipe.curriculum, recipe.entropy, recipe.base) == ("hard:2", 1.0, "hf:a/b")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lerning_rate = 1.0", "did you mean 'learning_rate'"),
        ("steps = 'many'", "must be a int"),
        ("steps = 0", "steps must be 1 or more"),
        ("steps = ", "is no TOML"),
        ("split = 'test'", "test"),
        ("finish = 'nobody'", "unknown finish 'nobody'"),
        ("curriculum = 'easy:much'", "write tiers and sizes"),
        ("rogue_bonus_multiplier = '2->'", "write 1.5, or 2.0->1.0"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ChaosOpsError, match=words):
        load_recipe(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ChaosOpsError, match="cannot read recipe"):
        load_recipe(tmp_path / "none.toml")


def test_stages_keep_their_order() -> None:
    assert [tier.value for tier, _ in read_curriculum("hard:1,medium:1,easy:1")] == [
        "hard",
        "medium",
        "easy",
    ]
