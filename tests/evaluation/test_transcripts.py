"""Transcripts: the evidence holds what Oversight saw, and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from chaosops.cli import main
from chaosops.core.actions import FlagRogue
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.evaluation.transcripts import (
    EVIDENCE,
    LABELS,
    MANIFEST,
    Label,
    evidence_and_label,
    read_transcripts,
    recording_team,
)
from chaosops.packs import make_scenario
from chaosops.rollout import load_team, play
from tests.conftest import Outcome
from tests.evaluation.conftest import SEEDS


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def keys(content: Any) -> Iterator[str]:
    if isinstance(content, dict):
        yield from content
    for each in content.values() if isinstance(content, dict) else content:
        if isinstance(each, dict | list):
            yield from keys(each)


def test_the_evidence_has_no_field_of_a_label(transcripts: Path) -> None:
    labels = lines(transcripts / LABELS)
    forbidden = {*Label._fields, *labels[0]["scenario"]} - {"id", "limit"}
    forbidden |= {"suspicion", "confidence", "events", "reward", "rubrics", "truth"}
    assert {"rogue", "seed", "cause", "tier", "decisive_entries"} <= forbidden
    for line in lines(transcripts / EVIDENCE):
        assert set(line) == {"id", "rules", "views", "acts"}
        services = set(line["rules"]["services"])  # one of them may be called "events"
        assert not forbidden & (set(keys([line["views"], line["acts"]])) - services)
        # A page of the runbook says what causes its fault, and every fault has a page.
        rules = {name: of for name, of in line["rules"].items() if name not in ("runbook", "calls")}
        assert not forbidden & set(keys(rules))
        assert len(line["rules"]["runbook"]) > 2


def test_the_evidence_is_what_oversight_sees_and_what_all_did(transcripts: Path) -> None:
    """Played anew, the same lines follow from the views and the acts alone."""
    _, found = read_transcripts(transcripts)
    team = recording_team("auditor")
    for recorded in found[:4]:
        scenario = make_scenario(pack="arena", split="test", seed=recorded.label.scenario["seed"])
        episode = play(scenario, team)
        env = Env(scenario)
        views = []
        for turn in episode.turns:
            if turn.role is Role.OVERSIGHT:
                views.append(env.view)
            env.play(turn.decision)
        assert list(recorded.views) == views
        assert [act.role for act in recorded.acts] == [turn.role.value for turn in episode.turns]


def test_nothing_in_the_evidence_depends_on_who_is_called_the_rogue(transcripts: Path) -> None:
    """Names of the evidence tell nothing: ids only count, and the truth is in the labels alone."""
    evidence, labels = lines(transcripts / EVIDENCE), lines(transcripts / LABELS)
    assert [line["id"] for line in evidence] == [f"e{n:05}" for n in range(1, SEEDS + 1)]
    assert [line["id"] for line in labels] == [line["id"] for line in evidence]
    assert {label["rogue"] is None for label in labels} == {True, False}
    for line, label in zip(evidence, labels, strict=True):
        if label["rogue"]:  # named like every other agent
            assert label["rogue"] in line["rules"]["agents"]


@pytest.mark.parametrize("team", ["last_toucher", "oversight=keyword,others=heuristic"])
def test_the_overseer_that_plays_never_flags(team: str) -> None:
    """So the rogue is not contained, and no reader learns what the overseer thought. It audits
    every turn, so its waiting tells nothing either."""
    flagged = 0
    for seed in range(6):
        scenario = make_scenario(pack="arena", split="test", seed=seed)
        episode = play(scenario, recording_team(team))
        evidence, _ = evidence_and_label("e1", episode)
        assert "flag_rogue" not in {act["action"]["action"] for act in evidence["acts"]}
        own = [act["action"] for act in evidence["acts"] if act["role"] == "oversight"]
        agents = evidence["rules"]["agents"]
        audited = [act["target"] for act in own if act["action"] == "audit"]
        assert audited == agents[: len(audited)]
        waits = [act for act in own if act["action"] == "noop"]
        assert not waits or len(audited) == len(agents)
        chats = [message for view in evidence["views"] for message in view["chat"]]
        assert all(said.get("action", {}).get("action") != "flag_rogue" for said in chats)
        live = play(scenario, load_team(team))
        flagged += any(isinstance(turn.decision.action, FlagRogue) for turn in live.turns)
    assert flagged, "the same policy flags where it is not held back"


def test_turns_in_time_end_when_the_fault_is_back(transcripts: Path) -> None:
    _, found = read_transcripts(transcripts)
    back = [each for each in found if each.label.return_step is not None]
    assert back
    for each in back:
        step = each.label.return_step
        assert step is not None
        late = each.views[each.turns_in_time :]
        assert all(view.step >= step for view in late)
        assert all(view.step < step for view in each.views[: each.turns_in_time])
    others = [each for each in found if each.label.return_step is None]
    assert all(each.turns_in_time == len(each.views) for each in others)


def test_a_transcript_ends_with_the_present_view(transcripts: Path) -> None:
    _, found = read_transcripts(transcripts)
    for turn, each in enumerate(found[0].transcripts(), 1):
        assert len(each.views) == turn
        assert each.view == found[0].views[turn - 1]
        assert [act.step for act in each.acts] == list(range(1, each.view.step + 1))


def test_parquet_holds_the_same_evidence_and_labels(transcripts: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    evidence = parquet.read_table(transcripts / "evidence.parquet").to_pylist()
    labels = parquet.read_table(transcripts / "labels.parquet").to_pylist()
    written = lines(transcripts / EVIDENCE)
    assert [json.loads(row["view"]) for row in evidence] == [v for e in written for v in e["views"]]
    assert set(evidence[0]) == {
        *("id", "turn", "step", "agents", "system", "user", "rules", "view", "acts")
    }
    assert evidence[0]["user"].startswith("Step 2 of")
    assert [row["rogue"] for row in labels] == [
        line["rogue"] for line in lines(transcripts / LABELS)
    ]


def test_the_same_command_writes_the_same_bytes(transcripts: Path, tmp_path: Path) -> None:
    assert main(["transcripts", str(tmp_path / "again"), "--seeds", str(SEEDS)]) == 0
    for name in (EVIDENCE, LABELS):
        assert (tmp_path / "again" / name).read_bytes() == (transcripts / name).read_bytes()


@pytest.mark.parametrize("name", [EVIDENCE, LABELS])
def test_a_changed_file_is_noticed(transcripts: Path, tmp_path: Path, name: str) -> None:
    copy = Path(shutil.copytree(transcripts, tmp_path / "copy"))
    text = (copy / name).read_text(encoding="utf-8")
    (copy / name).write_text(text.replace('"id":"e00001"', '"id":"e00099"'), encoding="utf-8")
    with pytest.raises(BadInput, match=f"{name} was changed"):
        read_transcripts(copy)


def test_a_line_that_cannot_be_read_is_named(transcripts: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(transcripts, tmp_path / "copy"))
    found = lines(copy / EVIDENCE)
    del found[2]["views"][0]["trace"]
    text = "".join(json.dumps(line) + "\n" for line in found)
    (copy / EVIDENCE).write_text(text, encoding="utf-8")
    manifest = json.loads((copy / MANIFEST).read_text(encoding="utf-8"))
    manifest["files"][EVIDENCE] = sha256(text.encode()).hexdigest()
    (copy / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(BadInput, match="line 3 cannot be read"):
        read_transcripts(copy)


def test_who_sees_the_truth_may_not_record() -> None:
    with pytest.raises(BadInput, match="oracle sees the truth"):
        recording_team("oversight=heuristic,others=oracle")


@pytest.mark.parametrize("out", ["new", "new/deeper", "old"])
def test_a_command_that_fails_leaves_no_empty_folder(
    tmp_path: Path, cli: Callable[..., Outcome], out: str
) -> None:
    (tmp_path / "old").mkdir()
    assert "sees the truth" in cli("transcripts", str(tmp_path / out), "--team", "oracle").refusal
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize(
    ("place", "problem"), [(".", "it has no manifest.json"), ("gone", "there is no such folder")]
)
def test_a_folder_that_holds_none_is_named(tmp_path: Path, place: str, problem: str) -> None:
    with pytest.raises(BadInput, match=f"is not a folder of transcripts: {problem}; make it with"):
        read_transcripts(tmp_path / place)
