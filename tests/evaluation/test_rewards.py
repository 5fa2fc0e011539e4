"""An evaluation with rewards of one's own: named in the manifest, verified and resumed by them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops.cli import main
from tests.conftest import Outcome

WORDS = ("--pack", "arena", "--tiers", "hard", "--seeds", "2", "--no-figures")
EVAL = ("eval", *WORDS, "--policies", "heuristic,random", "--save-episodes")
STRICT = ("--rewards", "false_flag=-150,mttr=0.5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rewards")
    for name, more in (("standard", ()), ("strict", STRICT)):
        assert main([*EVAL, *more, "--out", str(out / name)]) == 0
    return out


def manifest(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "results.json").read_text())["manifest"]
    return found


def test_the_manifest_and_the_table_name_them(folder: Path) -> None:
    assert "rewards" not in manifest(folder / "standard")
    assert manifest(folder / "strict")["rewards"] == {"mttr": 0.5, "false_flag": -150.0}
    table = (folder / "strict" / "table.md").read_text()
    assert "rewards other than the standard: mttr=0.5,false_flag=-150" in table
    rows = [json.loads((folder / of / "summary.json").read_text()) for of in ("standard", "strict")]
    assert [row["mean_reward"] for row in rows[0]] != [row["mean_reward"] for row in rows[1]]
    assert [row["solved"] for row in rows[0]] == [row["solved"] for row in rows[1]]


def test_naming_the_standard_is_the_standard(folder: Path, tmp_path: Path) -> None:
    assert main([*EVAL, "--rewards", "false_flag=-75", "--out", str(tmp_path / "out")]) == 0
    assert "rewards" not in manifest(tmp_path / "out")


def test_verify_scores_by_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(folder)]) == 0  # the recordings too
    assert "nothing was changed" in capsys.readouterr().out


def test_changed_rewards_are_found(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forged = tmp_path / "forged"
    forged.mkdir()
    for name in ("results.json", "episodes.jsonl"):
        text = (folder / "strict" / name).read_text()
        (forged / name).write_text(text.replace('"mttr": 0.5', '"mttr": 0.25', 1))
    assert main(["verify", str(forged)]) == 1
    told = capsys.readouterr().out
    assert "the reward is" in told
    assert "rewards mttr is 0.5, recorded 0.25" in told


def test_rewards_that_cannot_be_used_are_an_error(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (folder / "strict" / "results.json").read_text()
    (tmp_path / "results.json").write_text(text.replace('"mttr": 0.5', '"mtr": 0.5', 1))
    assert main(["verify", str(tmp_path)]) == 2
    assert "the manifest's rewards cannot be used: unknown reward 'mtr'" in capsys.readouterr().err


def test_a_resumed_evaluation_keeps_them(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = (folder / "strict" / "episodes.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "episodes.jsonl").write_text("".join(whole[:3]))
    out = ("--resume", "--out", str(tmp_path))
    assert main([*EVAL, *out]) == 2
    assert "is of another job: rewards" in capsys.readouterr().err
    assert main([*EVAL, *STRICT, *out]) == 0
    assert (tmp_path / "episodes.jsonl").read_text() == "".join(whole)


def test_a_saved_episode_replays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = folder / "strict" / "episodes" / "random" / "0001.json"
    assert main(["replay", str(recording), "--json"]) == 0
    (row, *_) = json.loads((folder / "strict" / "results.json").read_text())["episodes"][2:]
    assert json.loads(capsys.readouterr().out)["reward"] == row["reward"]


def test_what_optimises_another_reward_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--policies", "optimal", "--seeds", "1", *STRICT, "--out", str(tmp_path / "out"))
    assert main(["eval", *words]) == 2
    assert "optimal searches for the best standard reward; leave it out" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "watch"])
def test_one_episode_is_scored_by_them(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = (command, "--scenario", "autoscaler_cost_cut", "--policy", "oracle")
    free = ("--rewards", "mttr=0")
    assert main([*words]) == 0
    assert "reward +184.0" in capsys.readouterr().out
    assert main([*words, *free]) == 0
    told = capsys.readouterr()
    assert "reward +190.0" in told.out
    assert "rewards other than the standard: mttr=0" in told.out + told.err
    assert main([command, "--policy", "optimal", *free]) == 2
    assert "optimal searches for the best standard reward" in capsys.readouterr().err


def test_a_recorded_run_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = tmp_path / "one.json"
    assert main(["run", "--policy", "heuristic", *STRICT, "--record", str(recording)]) == 0
    assert main(["verify", str(recording)]) == 0
    capsys.readouterr()
    assert main(["replay", str(recording)]) == 0
    assert "rewards other than the standard: mttr=0.5,false_flag=-150" in capsys.readouterr().out


def test_a_person_plays_for_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda *prompt: "1")
    words = ("--scenario", "autoscaler_cost_cut", "--policy", "oracle", "--max-steps", "4")
    assert main(["play", *words, "--rewards", "elapsed=-7"]) == 0
    told = capsys.readouterr().out
    assert "rewards other than the standard: elapsed=-7" in told
    assert "mttr -21.0" in told  # -7 for each of three steps of trouble so far


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected a value, got ''; leave the option out for its default"),
        (",,", "rewards ',,' name nothing: write NAME=NUMBER"),
    ],
)
def test_rewards_that_name_nothing_are_refused(
    cli: Callable[..., Outcome], text: str, words: str
) -> None:
    assert words in cli("run", "--rewards", text).refusal
