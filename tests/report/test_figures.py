from __future__ import annotations

from pathlib import Path

from chaosops.core.vocabulary import Tier
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.matrix import scenarios
from chaosops.report.figures import comparison_curve, rogue_vs_mttr


def test_equal_results_draw_equal_pictures(tmp_path: Path) -> None:
    summary = evaluate(["random", "oracle"], scenarios("published", seeds=1)).summary()
    pictures = [comparison_curve(summary, tmp_path / f"{i}.png").read_bytes() for i in range(2)]
    assert pictures[0] == pictures[1]
    assert len(pictures[0]) > 10_000


def test_a_tier_without_rogues_can_be_drawn(tmp_path: Path) -> None:
    summary = evaluate(["oracle"], scenarios("published", tiers=[Tier.EASY])).summary()
    assert rogue_vs_mttr(summary, tmp_path / "empty.png").stat().st_size > 5_000
    assert comparison_curve(summary, tmp_path / "one.png").stat().st_size > 5_000
