"""Turns for training are the same, whoever makes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosops.training.recipe import Recipe
from chaosops.training.turn_making import make_turns
from chaosops.workers import HERE, Engine
from tests.conftest import Outcome
from tests.training.tiny import save_tiny_model

RECIPE = Recipe(name="turns", steps=2, window=4, batch_tokens=6_000)


def turns(base: Path, folder: Path, engine: Engine) -> dict[str, bytes]:
    make_turns(RECIPE, base, folder, engine=engine)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("*/*")}


@pytest.mark.parametrize("kind", ["processes", "ray"])
def test_workers_make_the_same_turns(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    base = save_tiny_model(tmp_path / "base")
    address = request.getfixturevalue("cluster") if kind == "ray" else None
    alone = turns(base, tmp_path / "alone", HERE)
    assert len(alone) >= 2
    assert turns(base, tmp_path / "helped", Engine(2, address)) == alone


def test_trl_plays_its_own_turns(cli: object, tmp_path: Path) -> None:
    assert callable(cli)
    said: Outcome = cli("train", "trl_smoke", "--ray", "local", "--out", str(tmp_path / "run"))
    assert "--ray needs method = 'menu'" in said.refusal
