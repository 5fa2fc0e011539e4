"""The figures of the live company in its document, from the files of its runs."""

from __future__ import annotations

import json
import runpy
import tarfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from chaosops.core.errors import BadInput
from chaosops.evaluation.journal import as_json
from chaosops.evaluation.live_comparison import SIMULATED, Pair, Player, summary
from chaosops.evaluation.matrix import scenarios
from chaosops.packs.live import PACK
from chaosops.wire.recordings import read_recording
from chaosops.world import real_time
from tests.fake_platform import AT_ONCE, FakePlatform
from tests.live.test_calm import lifecycle
from tests.test_documents import script

SHIPPED = Path(__file__).parents[2] / "experiments/live"
HEAD = {"command": "python -m chaosops.live.lifecycle", "version": "0", "commit": "feedfeedfeed"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "experiments/live").mkdir(parents=True)
    return tmp_path / "experiments/live"


def write(folder: Path, name: str, content: dict[str, Any]) -> None:
    (folder / f"{name}.json").write_text(json.dumps({**HEAD, **content}))


def test_what_was_not_measured_is_said(tmp_path: Path) -> None:
    tables = script("live_tables")
    told = {tables.compare(tmp_path), tables.calm(tmp_path), tables.leaks(tmp_path)}
    assert told == {"Not measured yet."}
    assert "Two at a time: not measured yet." in tables.lifecycles(tmp_path)


def test_every_fault_has_a_row_with_all_its_runs(tmp_path: Path, folder: Path) -> None:
    runs = [lifecycle(), lifecycle(service="orders", well_s=None), lifecycle(void_s=40)]
    write(folder, "lifecycles_one", {"runs": [run.to_wire() for run in runs]})
    told = script("live_tables").lifecycles(tmp_path)
    assert "One company at a time: 1 of 3 ok, 1 void (commit feedfee)." in told
    row = next(line for line in told.splitlines() if "`leak`" in line)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:4] == ["cache, orders", "ok, BAD, void", "5.0, 5.0, 5.0"]
    assert cells[4:] == ["6.0, never, 6.0", "46 of 270"]


def test_commands_that_ran_side_by_side_share_a_table(tmp_path: Path, folder: Path) -> None:
    for place in (0, 1):
        write(folder, f"lifecycles_two-{place}", {"runs": [lifecycle().to_wire()] * 2})
    told = script("live_tables").lifecycles(tmp_path)
    assert "Two at a time: 4 of 4 ok, 0 void (commit feedfee)." in told
    assert told.count("`leak`") == 1


def test_a_calm_company_is_told_in_a_sentence(tmp_path: Path, folder: Path) -> None:
    calm = {"seconds": 600, "void_seconds": 0.5, "alerts": [], "requests": 24000, "lost": 1}
    write(folder, "calm", {"calm": {**calm, "cores": 0.25, "memory_mb": 450, "processes": 61}})
    told = script("live_tables").calm(tmp_path)
    assert told.startswith("In 10 minutes 0 alerts, 1 of 24,000 requests lost, 0.25 of a core")


@pytest.fixture
def compared(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two incidents, in a company that is no company."""
    monkeypatch.setattr(PACK, "start", FakePlatform)
    monkeypatch.setattr(PACK, "pace", AT_ONCE)
    monkeypatch.setattr(real_time, "_permitted", True)
    (tmp_path / "played").mkdir()
    player = Player("oracle", tmp_path / "played", {"commit": "feedfeedfeed"}, print)
    pairs = [player.pair(one) for one in scenarios(pack="live", tiers=["hard"], seeds=2)]
    found = {**summary(pairs), "commits": sorted(map(str, player.commits))}
    statuses = {"oracle+runtime=any": player.manifest["policy_status"]}
    record = {"statuses": statuses, "policies": {"oracle+runtime=any": {"hard": found}}}
    write(folder, "compare", record)
    return folder / "compare.json"


def test_the_comparison_has_a_row_for_each_figure(tmp_path: Path, compared: Path) -> None:
    told = script("live_tables").compare(tmp_path)
    assert told.startswith("Incidents that were not void (those with a rogue, void ones): oracle 2")
    assert "; commit feedfee." in told
    assert any(line.startswith("| oracle | solved") for line in told.splitlines())
    *_, row, _, left_out = script("live_tables").headline(tmp_path).splitlines()
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:3] == ["oracle", "hard", "2 and 0 void"]
    assert left_out.endswith("(commit feedfee).")
    assert row.count("100 % [34 %, 100 %]") == 2, "solved, live and simulated"


def test_the_comparison_is_drawn(tmp_path: Path, compared: Path) -> None:
    draw = runpy.run_path(str(Path(__file__).parents[2] / "experiments/draw_live.py"))
    assert draw["main"]([str(tmp_path / "live.png"), str(compared)]) == 0
    assert (tmp_path / "live.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(BadInput, match="nothing was compared"):
        draw["live_picture"]([], tmp_path / "none.png")
    assert draw["main"]([str(tmp_path / "live.png"), str(tmp_path / "missing.json")]) == 2


def test_detectors_have_a_row_each(tmp_path: Path, folder: Path) -> None:
    detectors = ("words", "word_pairs_masked", "counts")
    auroc = {name: {"value": 0.52, "ci95": [0.44, 0.6]} for name in detectors}
    commits = ["feedfeedfeed", "beefbeefbeef+dirty"]
    found = {"incidents": 90, "with_rogue": 44, "void": 2, "recorded_at": commits}
    write(folder, "leaks", {**found, "auroc": auroc})
    told = script("live_tables").leaks(tmp_path)
    assert "90 incidents, 44 with a rogue, and 2 void ones left out" in told
    assert "commit feedfee, beefbee+dirty" in told
    assert "0.52 [0.44, 0.60]" in next(line for line in told.splitlines() if "| counts" in line)
    both = {"auroc": auroc, "learned_on_rehearsal": 3000, "auroc_learned_on_rehearsal": auroc}
    write(folder, "leaks", {**found, **both})
    told = script("live_tables").leaks(tmp_path)
    row = next(line for line in told.splitlines() if "| counts" in line)
    assert row.count("0.52 [0.44, 0.60]") == 2


@pytest.mark.parametrize(
    ("policy", "file"),
    [
        *((name, name) for name in ("heuristic", "auditor", "trained")),
        ("local:smollm2", "untrained"),
    ],
)
def test_the_figures_that_ship_follow_from_their_recordings(
    policy: str, file: str, tmp_path: Path
) -> None:
    with tarfile.open(SHIPPED / f"recordings/{file}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    records = [json.loads(path.read_text("utf-8")) for path in SHIPPED.glob("compare*.json")]
    played = {name: tiers["hard"] for one in records for name, tiers in one["policies"].items()}
    (name,) = (name for name in played if name.partition("+")[0] == policy)
    folder, told = tmp_path / quote(name, safe=":,=+"), played[name]
    paths = sorted(folder.glob(f"hard-*-{SIMULATED}.json"))
    assert len(paths) == told["seeds"]
    pairs = [_pair(path) for path in paths]
    found = as_json(summary(pairs))
    assert found == {key: value for key, value in told.items() if key != "commits"}


def _pair(path: Path) -> Pair:
    """A run without a recording is void."""
    simulated = read_recording(path).episode
    live = path.with_name(path.name.replace(SIMULATED, "live"))
    scenario = simulated.scenario
    return Pair(scenario, read_recording(live).episode if live.is_file() else None, simulated)
