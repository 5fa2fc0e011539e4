"""The script that adds baselines and counts of companies to runs without them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.training.recipe_files import load_recipe
from chaosops.training.story import BASELINES, COMPANIES, play_scripts
from chaosops.training.validation import validation_rows, validation_scenarios

ROOT = Path(__file__).parents[2]
RECIPE = 'pack = "arena"\nvalidation_seeds = 6\ncurriculum = "easy:1,hard:1"\n'


def test_it_writes_what_the_run_would_have_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import run_baselines

    (tmp_path / "recipe.toml").write_text(RECIPE)
    played = play_scripts(validation_scenarios(load_recipe(tmp_path / "recipe.toml")))
    row = {"step": 0, "validation": validation_rows(played["heuristic"])}
    (tmp_path / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    monkeypatch.setattr(sys, "argv", ["run_baselines", str(tmp_path)])
    run_baselines.main()
    counts = json.loads((tmp_path / COMPANIES).read_text())
    rogues = sum(e.rogue is not None for e in played["heuristic"] if e.scenario.tier == "hard")
    assert counts == {
        "easy": {"all": 6, "with_rogue": 0},
        "hard": {"all": 6, "with_rogue": rogues},
    }
    assert list(json.loads((tmp_path / BASELINES).read_text())) == list(played)

    # The validations of another world: what was there stays.
    row["validation"]["hard"]["solved"] = 0.4321  # type: ignore[index]
    (tmp_path / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / COMPANIES).unlink()
    (tmp_path / BASELINES).write_text("{}\n")
    with pytest.raises(BadInput, match=r"solved on hard is 0\.4321 at update 0, .* of 6 companies"):
        run_baselines.main()
    assert not (tmp_path / COMPANIES).exists()
    assert (tmp_path / BASELINES).read_text() == "{}\n"
