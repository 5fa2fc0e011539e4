from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.report.seeds import AUROC, Stage
from chaosops.report.training_figures import learning_curve, read_metrics
from chaosops.training.recipe import Recipe

STAGES = runpy.run_path(str(Path(__file__).parents[2] / "experiments/draw_stages.py"))


def rows() -> list[dict[str, object]]:
    updates: list[dict[str, object]] = [
        {
            "step": step,
            "regret": {"arena oversight": 50 / step, "classic sre": 3.0},
            "tiers": {"easy": 5, "hard": step},
        }
        for step in range(1, 12)
    ]
    check = {"hard": {"mean_reward": -100.0}, "easy": {"mean_reward": 10.0}}
    return [*updates, {"step": 11, "kl_from_start": 0.5, "validation": check}]


def test_a_run_is_drawn(tmp_path: Path) -> None:
    metrics = tmp_path / "metrics.jsonl"
    metrics.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    updates, validations = read_metrics(metrics)
    assert (len(updates), len(validations)) == (11, 1)
    drawn = learning_curve(metrics, tmp_path / "curve.png")
    assert drawn.read_bytes().startswith(b"\x89PNG")
    metrics.write_text("".join(json.dumps(row) + "\n" for row in rows()[:-1]))
    assert learning_curve(metrics, tmp_path / "unvalidated.png").stat().st_size > 10_000


def test_no_metrics_no_curve(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text("")
    with pytest.raises(BadInput, match="no curve to draw"):
        learning_curve(tmp_path / "metrics.jsonl", tmp_path / "curve.png")


def test_stages_of_several_seeds_share_a_picture(tmp_path: Path) -> None:
    def row(step: int, reward: float, auroc: float | None) -> dict[str, object]:
        figures = {"mean_reward": reward, "false_flag_rate": 0.1, AUROC: auroc}
        return {"step": step, "validation": {"easy": figures}}

    first = Stage(tmp_path, Recipe(), [row(0, -900, None), row(10, 5, 0.5)], [])
    second = Stage(tmp_path, Recipe(), [row(0, 5, 0.5), row(8, 50, 0.9)], [])
    seeds = {"seed 0": [first, second], "seed 1": [first]}
    curve = STAGES["_curve"](seeds["seed 0"], "easy", "mean_reward")
    assert curve == {(0, 0): -900, (0, 10): 5, (1, 10): 5, (1, 18): 50}
    picture = STAGES["stages_curve"](seeds, tmp_path / "out.png")
    assert picture.stat().st_size > 10_000
    with pytest.raises(BadInput, match="no seed to draw"):
        STAGES["stages_curve"]({}, tmp_path / "none.png")
