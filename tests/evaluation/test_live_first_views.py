"""First prompts of live incidents, over a fake platform, and what detectors find in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder
from chaosops.evaluation.live_comparison import Player
from chaosops.evaluation.live_first_views import collect, detect, record
from chaosops.live.platform import VoidRun
from chaosops.packs import make_scenario
from chaosops.packs.live import PACK
from chaosops.world import real_time
from tests.fake_platform import AT_ONCE, FakePlatform


@pytest.fixture(autouse=True)
def no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PACK, "start", FakePlatform)
    monkeypatch.setattr(PACK, "pace", AT_ONCE)
    monkeypatch.setattr(real_time, "_permitted", True)


def test_what_is_recorded_is_not_recorded_again(tmp_path: Path) -> None:
    path = tmp_path / "views.jsonl"
    assert list(record(path, "hard", range(2))) == ["seed 0: recorded", "seed 1: recorded"]
    assert list(record(path, "hard", range(3))) == ["seed 2: recorded"]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["seed"] for row in rows] == [0, 1, 2]
    assert all("charter" in row["prompt"].lower() for row in rows)
    with pytest.raises(BadInput, match="3 incidents are too few"):
        detect([path])


def test_a_leak_is_found_and_its_absence_too(tmp_path: Path) -> None:
    """A prompt that tells, and counts that do not."""
    path = tmp_path / "views.jsonl"
    with path.open("w") as file:
        for seed in range(100):
            rogue = "cache_warmer" if seed // 2 % 2 else None
            prompt = f"entry {seed}: {'hidden' if rogue else 'shown'} change of size {seed % 9}"
            head = {"seed": seed, "tier": "hard", "pack_hash": "a", "commit": "c", "void": None}
            row = {**head, "prompt": prompt, "counts": [seed % 3, 4.0], "rogue": rogue}
            file.write(json.dumps(row) + "\n")
    found = detect([path])
    assert (found["incidents"], found["with_rogue"]) == (100, 50)
    assert found["auroc"]["words"]["value"] > 0.99
    assert found["auroc"]["word_pairs_masked"]["value"] > 0.95
    low, high = found["auroc"]["counts"]["ci95"]
    assert low < 0.5 < high


def test_void_incidents_are_recorded_once_and_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(plan: object) -> FakePlatform:
        raise VoidRun("the company did not start")

    path = tmp_path / "new" / "views.jsonl"
    monkeypatch.setattr(PACK, "start", fails)
    (said,) = record(path, "hard", range(1))
    assert "the company did not start" in said
    monkeypatch.setattr(PACK, "start", FakePlatform)
    assert list(record(path, "hard", range(2))) == ["seed 1: recorded"]
    assert [bool(json.loads(line)["void"]) for line in path.read_text().splitlines()] == [
        True,
        False,
    ]
    with pytest.raises(BadInput, match="1 incidents are too few"):
        detect([path])


def test_views_are_collected_from_recordings_of_a_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ``record`` makes them. Where one policy's run is void, another's counts."""

    def fails(plan: object) -> FakePlatform:
        raise VoidRun("the company did not start")

    manifest = {"command": "", "version": "", "commit": "c"}
    scenarios = [make_scenario(pack="live", tier="hard", seed=seed) for seed in range(2)]
    for policy, seeds in (("auditor", [0]), ("heuristic", [0, 1])):
        folder = open_folder(tmp_path / "out" / policy)
        player = Player(policy, folder, manifest, print)
        monkeypatch.setattr(PACK, "start", fails if policy == "auditor" else FakePlatform)
        for seed in seeds:
            player.pair(scenarios[seed])
    views = tmp_path / "views.jsonl"
    assert collect(views, [tmp_path / "out" / "auditor"]) == "1 incidents, 1 void"
    assert collect(views, [tmp_path / "out"]) == "2 incidents, 0 void"
    direct = tmp_path / "direct.jsonl"
    list(record(direct, "hard", range(2)))
    found, same = (
        [json.loads(line) for line in path.read_text().splitlines()] for path in (views, direct)
    )
    assert [row["commit"] for row in found] == ["c", "c"]
    assert [{**row, "commit": None} for row in found] == [{**row, "commit": None} for row in same]
    with pytest.raises(BadInput, match="no live incident was recorded"):
        collect(views, [tmp_path / "nothing"])


def test_views_of_two_tiers_are_not_mixed(tmp_path: Path) -> None:
    """Equal seeds of two tiers are different incidents."""
    path, other = tmp_path / "views.jsonl", tmp_path / "medium.jsonl"
    list(record(path, "hard", range(1)))
    with pytest.raises(BadInput, match="first views of another tier; name a new file"):
        list(record(path, "medium", range(1)))
    list(record(other, "medium", range(1)))
    with pytest.raises(BadInput, match="another tier or pack_hash"):
        detect([path, other])


def test_a_void_view_takes_the_place_of_none(tmp_path: Path) -> None:
    path = tmp_path / "views.jsonl"
    list(record(path, "hard", range(30)))
    void = tmp_path / "void.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    void.write_text("".join(json.dumps({**row, "void": "busy"}) + "\n" for row in rows))
    for files in ([path, void], [void, path]):
        found = detect(files)
        assert (found["incidents"], found["void"]) == (30, 0)


def test_detectors_that_learned_on_the_rehearsal_judge_live_prompts(tmp_path: Path) -> None:
    path = tmp_path / "views.jsonl"
    list(record(path, "hard", range(30)))
    found = detect([path], learn=40)
    assert found["learned_on_rehearsal"] == 40
    assert set(found["auroc_learned_on_rehearsal"]) == set(found["auroc"])
