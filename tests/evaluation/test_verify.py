"""What ``chaosops verify`` passes, what it cannot read, and what it prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest

from chaosops.evaluation.claims import check_manifest
from chaosops.evaluation.replaying import replay_line, scripts_of
from chaosops.evaluation.stored import read_results, results_chain
from chaosops.wire.recordings import recording_chain
from tests.conftest import Outcome
from tests.evaluation.forging import Content, edit, edit_json, line_of, watched_turn

Cli = Callable[..., Outcome]

EVALUATIONS = Path("src/chaosops/trained/evaluations")


def test_what_nobody_touched_passes(cli: Cli, folder: Path) -> None:
    code, out, err = cli("verify", str(folder))
    assert code == 0, out
    assert err == ""
    assert out.splitlines()[-1].endswith("in 1 place: nothing was changed")
    assert "note" not in out
    (folder / "episodes.jsonl").unlink()
    code, out, _ = cli("verify", str(folder))
    assert code == 0
    assert "note: no episodes.jsonl: results.json is verified alone" in out


def test_an_evaluation_that_was_stopped_can_be_verified(cli: Cli, folder: Path) -> None:
    lines = (folder / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    for path in folder.iterdir():
        path.unlink()
    (folder / "episodes.jsonl").write_bytes(b"".join(lines[:5]))
    code, out, _ = cli("verify", str(folder))
    assert code == 0, out
    assert "no results.json: the evaluation has not ended" in out
    spoiled = [*lines[:2], lines[2].replace(b'"reward":', b'"reward":7,"x":', 1), *lines[3:5]]
    (folder / "episodes.jsonl").write_bytes(b"".join(spoiled))
    code, out, _ = cli("verify", str(folder))
    assert code == 1
    assert "episodes.jsonl: heuristic, " in out


def test_monitor_figures_are_recomputed(cli: Cli, folder: Path) -> None:
    path = folder / "monitor.json"
    if not path.is_file():
        assert "arena" not in json.loads((folder / "results.json").read_text())["manifest"]["packs"]
        return
    content = json.loads(path.read_text())
    content["summary"][0]["precision"]["value"] = 0.99
    path.write_text(json.dumps(content))
    code, out, _ = cli("verify", str(folder), "--json")
    assert code == 1
    (finding,) = json.loads(out)[0]["findings"]
    assert finding["file"] == "monitor.json"
    assert finding["what"].startswith("heuristic, hard: precision value is ")
    assert finding["what"].endswith("recorded 0.99")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("results.json", "{", "is not a results file"),
        ("results.json", '{"manifest": {"seeds": NaN}}', "NaN is not a JSON number"),
        ("results.json", '{"manifest": {"seeds": 1e999}}', "1e999 is not a JSON number"),
        ("results.json", '{"manifest": {}, "episodes": []}', "is not a results file"),
        (
            "results.json",
            '{"manifest": {"packs": {}, "policies": {}}, "episodes": []}',
            "has no chain: it was made by an earlier version",
        ),
        ("episodes.jsonl", '{"format": "chaosops journal 1", "job": {}}\n', "is not a journal"),
    ],
)
def test_what_cannot_be_read_is_named(
    cli: Cli, tmp_path: Path, name: str, content: str, said: str
) -> None:
    (tmp_path / name).write_text(content)
    assert said in cli("verify", str(tmp_path)).refusal


def test_a_recording_is_verified_too(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    words = ["--pack", "arena", "--tier", "hard", "--seed", "3", "--policy", "heuristic"]
    assert cli("run", *words, "--record", str(path))[0] == 0
    assert cli("verify", str(path))[0] == 0
    content = json.loads(path.read_text())
    told = next(i for i, d in enumerate(content["episode"]["decisions"]) if "suspicion" in d)
    suspicion = content["episode"]["decisions"][told]["suspicion"]
    suspicion[next(iter(suspicion))] = 0.123
    path.write_text(json.dumps(content))
    code, out, _ = cli("verify", str(path))
    assert code == 1
    assert f"one.json: heuristic, hard, seed 3, turn {told + 1}: the decision was changed" in out
    assert "recorded 0.123" in out
    assert "no such file or folder" in cli("verify", str(tmp_path / "nothing")).refusal


@pytest.mark.parametrize("team", ["heuristic", "oversight=heuristic,others=random"])
def test_a_recording_goes_by_its_team(cli: Cli, tmp_path: Path, team: str) -> None:
    path = tmp_path / "one.json"
    words = ["--pack", "arena", "--tier", "hard", "--seed", "3", "--policy", team]
    assert cli("run", *words, "--record", str(path)).code == 0
    assert cli("verify", str(path)).code == 0
    content = json.loads(path.read_text())
    content["manifest"]["policy_status"] = {"kind": "model"}
    told = next(d for d in content["episode"]["decisions"] if "suspicion" in d)
    told["suspicion"][next(iter(told["suspicion"]))] = 0.123
    content["chain"] = recording_chain(content)
    path.write_text(json.dumps(content))
    code, out, _ = cli("verify", str(path))
    assert code == 1
    assert f"status of {team}: kind is 'scripted', recorded 'model'" in out
    assert "recorded 0.123" in out
    content["episode"]["reward"] = int("9" * 400)
    path.write_text(json.dumps(content))
    for command in ("verify", "replay"):
        assert "a whole number of 400 digits is too large" in cli(command, str(path)).refusal


def test_the_document_shows_what_is_printed(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Path("docs/verify.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    _, command, *_ = page.split("$ chaosops ")
    assert cli(*command.split())[0] == 0
    folder = tmp_path / "results" / "checked"

    def forge(content: Content) -> None:
        suspicion = watched_turn(line_of(content, "heuristic", 1))["suspicion"]
        suspicion[next(iter(suspicion))] = 0.9

    edit(folder, forge)
    edit_json("summary.json", lambda rows: rows[1].update(mean_reward=999.0))(folder)
    code, out, _ = cli("verify", "results/checked")
    assert code == 1
    shown = page.split("```\n")[2]
    assert len(shown.splitlines()) == 4
    printed = [line.strip() for line in out.splitlines()]
    assert set(shown.splitlines()) <= set(printed)


def test_a_shipped_evaluation_passes(cli: Cli) -> None:
    code, out, _ = cli("verify", str(EVALUATIONS / "classic_published"))
    assert code == 0, out


@pytest.mark.parametrize("folder", sorted(path.name for path in EVALUATIONS.glob("arena_*")))
def test_a_sample_of_the_other_shipped_evaluations_passes(folder: str) -> None:
    """Every link, every mean reward, and every tenth episode played again. CI plays all
    of them: ``chaosops verify src/chaosops/trained/evaluations``."""
    manifest, lines = read_results(EVALUATIONS / folder)
    assert [*results_chain(manifest, lines), *check_manifest(manifest, lines)] == []
    for line in lines[::10]:
        scripts = scripts_of(line["policy"], manifest["policies"][line["policy"]])
        _, found = replay_line(folder, line, manifest["packs"]["arena"]["hash"], scripts)
        assert found == []
    rows = json.loads((EVALUATIONS / folder / "summary.json").read_text())
    assert len(rows) == len(manifest["tiers"]) * len(manifest["policies"])
    for row in rows:
        of = [line for line in lines if line["policy"] == row["policy"]]
        rewards = [line["reward"] for line in of if line["scenario"]["tier"] == row["tier"]]
        assert len(rewards) == len(manifest["seeds"])
        assert fmean(rewards) == pytest.approx(row["mean_reward"])


def test_every_figure_is_recounted_from_results_alone(cli: Cli, folder: Path) -> None:
    derived = [path for path in folder.iterdir() if path.name != "results.json"]
    before = {path.name: path.read_bytes() for path in derived}
    for path in derived:
        path.unlink()
    assert cli("recount", str(folder / "results.json"), "--no-figures").code == 0
    for name in ("summary.json", "monitor.json", "table.md"):
        if name in before:
            assert (folder / name).read_bytes() == before[name]
    edit(folder, lambda content: content["episodes"][0].update(reward=7.0))
    refused = cli("recount", str(folder), "--no-figures")
    assert refused.code == 2
    assert "chaosops verify" in refused.err
