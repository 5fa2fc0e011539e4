from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Tier
from chaosops.report.reading_curve import reading_curve
from tests.conftest import Outcome
from tests.report.test_oversight_figures import drawn as drawn

Cli = Callable[..., Outcome]


def validation(reward: float, auroc: float | None = None) -> dict[str, Any]:
    return {"mean_reward": reward, "solved": 0.5, "auroc_turn_3": auroc}


def run(path: Path, *rewards: tuple[float, float]) -> Path:
    """``rewards``: of hard, on known words and on the reserve. Those of easy are 100 higher."""
    rows = [
        {
            "step": 10 * number,
            "validation": {
                "easy": validation(seen + 100),
                "hard": validation(seen, 0.8),
                "reserve easy": validation(reserve + 100),
                "reserve hard": validation(reserve, 0.6),
            },
        }
        for number, (seen, reserve) in enumerate(rewards)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_runs_are_thin_lines_and_their_mean_is_a_thick_one(
    drawn: list[Any], tmp_path: Path
) -> None:
    long = run(tmp_path / "a.jsonl", (-900, -950), (-100, -300), (0, -200))
    short = run(tmp_path / "b.jsonl", (-800, -850), (-50, -250))
    reading_curve([long, short], tmp_path / "x.png")
    rewards, solved, auroc = drawn[0].axes
    lines = rewards.get_lines()
    assert [line.get_linewidth() for line in lines] == [0.8, 0.8, 2.4] * 2
    assert lines[0].get_xydata().tolist() == [[0, -850], [10, -50], [20, 50]]  # mean over tiers
    # The mean ends with the run that ended first.
    assert lines[2].get_xydata().tolist() == [[0, -800], [10, -25]]
    assert lines[5].get_xydata().tolist() == [[0, -850], [10, -225]]
    assert solved.get_lines()[0].get_ydata().tolist() == [50, 50, 50]
    assert auroc.get_lines()[0].get_ydata().tolist() == [0.8, 0.8, 0.8]  # of hard alone
    assert drawn[0].legends[0].get_title().get_text().startswith("mean over easy, hard; mean of 2")
    reading_curve([long], tmp_path / "hard.png", [Tier.HARD])
    assert drawn[1].axes[0].get_lines()[0].get_ydata().tolist() == [-900, -100, 0]


def test_a_run_without_reserve_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text(json.dumps({"step": 0, "validation": {"hard": validation(0.0)}}) + "\n")
    with pytest.raises(BadInput, match="no validation on a reserve"):
        reading_curve([path], tmp_path / "x.png")
    known = run(tmp_path / "a.jsonl", (0, 0))
    with pytest.raises(BadInput, match="no validation on a reserve, tier medium;"):
        reading_curve([known], tmp_path / "x.png", [Tier.MEDIUM])


def test_runs_are_drawn_by_command(cli: Cli, tmp_path: Path) -> None:
    run(tmp_path / "metrics.jsonl", (-900, -950), (-100, -300))
    out = tmp_path / "curve.png"
    done = cli("draw", "reading", str(tmp_path), str(tmp_path / "metrics.jsonl"), "--out", str(out))
    assert (done.code, done.out) == (0, f"written: {out}\n"), done.err
    assert out.stat().st_size > 10_000
    assert "name at least one run" in cli("draw", "reading").refusal
