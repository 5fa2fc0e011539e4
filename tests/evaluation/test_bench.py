"""Speed is measured by ``chaosops bench``; here only generous floors are guarded, because a
test machine may be busy."""

from __future__ import annotations

from chaosops.evaluation.bench import bench, live_episode_bytes
from chaosops.evaluation.matrix import scenarios


def test_the_bench_reports_its_figures() -> None:
    figures = bench(seconds=0.3)
    assert figures["calibration"] > 0
    assert figures["steps_per_calibration"] > 0.6
    assert figures["steps_with_prompts_per_calibration"] > 0.15


def test_a_live_episode_is_small() -> None:
    assert live_episode_bytes(scenarios("full", seeds=2)) < 200_000
