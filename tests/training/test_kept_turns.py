"""Turns that are made once and kept for several runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.errors import BadInput
from chaosops.training.recipe import Recipe
from chaosops.training.run import train
from chaosops.training.turn_making import make_turns
from tests.training.smoke import LOOKING, SMOKE, weights_of


@pytest.mark.parametrize("recipe", [SMOKE, LOOKING], ids=["oracle", "lookahead"])
def test_kept_turns_change_nothing_but_the_time(base: Path, tmp_path: Path, recipe: Recipe) -> None:
    """Made before the run, by a run with another seed, or in the run: the weights are equal."""
    recipe = replace(recipe, reading=0.5, act_bonus=3.0)
    kept = tmp_path / "turns"
    train(recipe, base, tmp_path / "plain")
    make_turns(recipe, base, kept)
    dates = {path: path.stat().st_mtime_ns for path in kept.glob("*/*.npz")}
    assert len(dates) >= 2
    train(recipe, base, tmp_path / "kept", turns=kept)
    train(replace(recipe, seed=1), base, tmp_path / "other", turns=kept)
    assert dates == {path: path.stat().st_mtime_ns for path in kept.glob("*/*.npz")}
    plain, again = weights_of(tmp_path / "plain"), weights_of(tmp_path / "kept")
    assert all(bool((plain[name] == again[name]).all()) for name in plain)
    other = weights_of(tmp_path / "other")
    assert any(bool((plain[name] != other[name]).any()) for name in plain)


def test_kept_turns_of_another_recipe_are_not_taken(base: Path, tmp_path: Path) -> None:
    differences: list[dict[str, Any]] = [{}, {"window": 5}, {"first_seed": 6_000}, {"reading": 1.0}]
    differences += [{"rewards": "false_flag=-100"}]
    for changes in differences:
        make_turns(replace(SMOKE, steps=1, **changes), base, tmp_path)
    assert len(list(tmp_path.iterdir())) == len(differences)


@pytest.mark.parametrize("damage", ["empty", "cut off", "changed"])
def test_a_damaged_file_of_turns_is_named(base: Path, tmp_path: Path, damage: str) -> None:
    recipe = replace(SMOKE, steps=1)
    make_turns(recipe, base, tmp_path)
    first = min(tmp_path.glob("*/*.npz"))
    content = first.read_bytes()
    changed = content[:200] + bytes(byte ^ 255 for byte in content[200:2_000]) + content[2_000:]
    first.write_bytes({"empty": b"", "cut off": content[:100], "changed": changed}[damage])
    with pytest.raises(BadInput, match=f"{first.name} holds no turns"):
        make_turns(recipe, base, tmp_path)
