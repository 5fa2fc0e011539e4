"""Speed is measured by ``chaosops bench``; here only generous floors are guarded, because a
test machine may be busy."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.conftest import Outcome

if TYPE_CHECKING:
    import pytest


def test_the_bench_reports_its_figures(
    cli: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chaosops.evaluation.bench.ROUNDS", 2)  # the better of two
    code, out, _ = cli("bench", "--json", "--seconds", "0.1")
    assert code == 0
    figures = json.loads(out)
    assert {"steps_per_s", "steps_with_four_views_per_s", "steps_with_prompts_per_s"} < set(figures)
    assert figures["calibration"] > 0
    assert figures["steps_per_calibration"] > 0.6
    assert figures["steps_with_prompts_per_calibration"] > 0.15
    assert figures["live_episode_bytes"] < 200_000
