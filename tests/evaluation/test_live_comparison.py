"""Live and simulated figures side by side, over a fake platform."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops.cli import main
from chaosops.core.errors import BadInput
from chaosops.evaluation.live_comparison import Pair, Player, summary, table_rows
from chaosops.evaluation.matrix import scenarios
from chaosops.live.platform import Observation, VoidRun
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
    made = {"commit": "feed"}
    player = Player("auditor", tmp_path, made, said.append)
    good = [player.pair(scenario) for scenario in matrix[:4]]
    monkeypatch.setattr(FakePlatform, "broken", lambda self: {})
    void = [player.pair(scenario) for scenario in matrix[4:]]
    found = summary([*good, *void])
    assert (found["seeds"], found["void"], len(said)) == (6, 2, 2)
    assert found["with_rogue"] == sum(pair.simulated.rogue is not None for pair in good)
    assert found["same_verdict"]["value"] == 1.0
    assert found["stayed_well"]["value"] is None
    rows = list(table_rows("auditor", "hard", found))
    assert rows[0][:3] == ["auditor", "hard", "solved"]
    assert rows[0][3:] == ["100 % [51 %, 100 %]", "100 % [51 %, 100 %]", "+0 % [-49 %, +49 %]"]
    void_rogues = [pair.simulated.rogue for pair in void]
    assert found["at_worst"]["solved"]["value"] == pytest.approx(4 / 6, abs=1e-6)
    accused = found["at_worst"]["benign_accused"]["value"]
    assert (accused > 0) == (None in void_rogues), "what is bad counts as having happened"


def test_it_says_where_the_views_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake company logs for the cause alone, and its gauges are its own."""
    found = summary(pairs(tmp_path / "as it is"))
    assert found["same_views"]["trace"]["value"] == 1.0
    gauges = found["gauges"]
    assert gauges["live"]["errors in % at the worst service"]["value"] == 30.0
    assert gauges["live"] != gauges["rehearsal"]
    monkeypatch.setattr(FakePlatform, "observe", _without_feed(FakePlatform.observe))
    other = summary(pairs(tmp_path / "other"))
    assert other["same_views"]["trace"]["value"] == 0.0


def pairs(folder: Path, policy: str = "oracle", seeds: int = 3) -> list[Pair]:
    folder.mkdir()
    player = Player(policy, folder, {"commit": None}, print)
    return [player.pair(one) for one in scenarios(pack="live", tiers=["hard"], seeds=seeds)]


def _without_feed(observe: Callable[..., Observation]) -> Callable[..., Observation]:
    return lambda self, minute: observe(self, minute)._replace(feed=())


def test_recordings_of_another_kind_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scenario,) = scenarios(pack="live", tiers=["hard"], seeds=1)
    Player("oracle", tmp_path, {"commit": "a"}, print).pair(scenario)
    later = Player("oracle", tmp_path, {"commit": "b"}, print)
    assert later.pair(scenario).live
    assert later.commits == {"a"}, "of what was recorded"
    with pytest.raises(BadInput, match="another policy_status"):
        Player("auditor", tmp_path, {"commit": "a"}, print).pair(scenario)
    monkeypatch.setattr(PACK, "pace", AT_ONCE._replace(lasts=60.0))
    with pytest.raises(BadInput, match=r"another pace: .* choose another --out"):
        later.pair(scenario)


def test_a_void_run_is_recorded_and_not_played_until_it_is_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scenario,) = scenarios(pack="live", tiers=["hard"], seeds=1)

    begin = FakePlatform.begin

    def ends_at_three(self: FakePlatform, minute: int) -> None:
        if minute == 3:
            raise VoidRun("the live company has ended: it was killed")
        begin(self, minute)

    monkeypatch.setattr(FakePlatform, "begin", ends_at_three)
    assert Player("oracle", tmp_path, {"commit": "a"}, print).pair(scenario).is_void
    monkeypatch.undo()
    monkeypatch.setattr(PACK, "pace", AT_ONCE)
    assert Player("oracle", tmp_path, {"commit": "a"}, print).pair(scenario).is_void
    (path,) = tmp_path.glob("*.void.json")
    assert "it was killed" in path.read_text()


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
