"""Live and simulated figures side by side, over a fake platform."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosops.cli import main
from chaosops.evaluation.live_comparison import play_pairs, summary, table_rows
from chaosops.evaluation.matrix import scenarios
from chaosops.packs.live import PACK
from chaosops.world import real_time
from tests.fake_platform import AT_ONCE, FakePlatform


@pytest.fixture(autouse=True)
def no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PACK, "start", FakePlatform)
    monkeypatch.setattr(PACK, "pace", AT_ONCE)
    monkeypatch.setattr(real_time, "_permitted", True)


def test_void_runs_are_counted_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = scenarios(pack="live", tiers=["hard"], seeds=6)
    said: list[str] = []
    good = list(play_pairs("auditor", matrix[:4], tmp_path, said.append))
    monkeypatch.setattr(FakePlatform, "broken", lambda self: {})
    void = list(play_pairs("auditor", matrix[4:], tmp_path, said.append))
    found = summary([*good, *void])
    assert (found["seeds"], found["void"], len(said)) == (6, 2, 2)
    assert found["live"]["solved"].episodes == found["rehearsal"]["solved"].episodes == 4
    assert found["same verdict"].value == 1.0
    assert found["stayed well"].value is None
    rows = list(table_rows("auditor", "hard", found))
    assert rows[0][:3] == ["auditor", "hard", "solved"]
    assert rows[0][3].startswith("100% [")


def test_what_is_recorded_is_not_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["live", "compare", "--seeds", "2", "--policies", "oracle", "--out", str(tmp_path)]
    assert main([*command, "--watch", "0"]) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr(PACK, "start", lambda plan: pytest.fail("it was played again"))
    assert main([*command, "--watch", "0"]) == 0
    assert capsys.readouterr().out == first
    assert "| oracle | hard | solved" in first
