from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.report.training_figures import learning_curve, read_metrics

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


@pytest.mark.parametrize("name", ["auroc", "auroc_turn_3"])
def test_stages_of_several_seeds_share_a_picture(name: str, tmp_path: Path) -> None:
    def row(step: int, reward: float, auroc: float | None, name: str = name) -> str:
        figures = {"mean_reward": reward, "false_flag_rate": 0.1, name: auroc}
        return json.dumps({"step": step, "validation": {"easy": figures}}) + "\n"

    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    first.write_text(row(0, -900, None) + row(10, 5, None))
    second.write_text(row(0, 5, None) + row(8, 50, None))
    picture = STAGES["stages_curve"](
        {"seed 0": [first, second], "seed 1": [first]}, tmp_path / "out.png"
    )
    assert picture.stat().st_size > 10_000
    second.write_text(row(8, 50, None, name="auroc of another turn"))
    with pytest.raises(BadInput, match="after different turns"):
        STAGES["stages_curve"]({"seed 0": [first, second]}, tmp_path / "mixed.png")
