from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops import Team
from tests.conftest import Outcome
from tests.fake_model import FakeModel

Cli = Callable[..., Outcome]


@pytest.fixture
def recording(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An episode of a language model, recorded by the command."""
    path = tmp_path / "deep" / "episode.json"
    model = FakeModel("oracle", {2: "I think\nso \x1b[31m"})
    monkeypatch.setattr("chaosops.cli.commands.run.load_team", lambda name: Team.of(model))
    code, out, _ = cli("run", "--policy", "fake", "--record", str(path))
    assert code == 0
    assert out.endswith(f"\nrecorded: {path}\n")
    return path


def test_a_recording_says_how_it_was_made(recording: Path) -> None:
    manifest = json.loads(recording.read_text())["manifest"]
    assert manifest["command"].startswith("chaosops run --policy fake --record")
    assert set(manifest) == {"command", "version", "commit", "pack_hash", "policy_status"}
    assert manifest["policy_status"]["model"] == "fake/tiny-1b"


def test_replay_prints_what_run_printed(cli: Cli, tmp_path: Path) -> None:
    for words in (["--policy", "heuristic"], ["--pack", "arena", "--policy", "random"]):
        path = tmp_path / "episode.json"
        plain = cli("run", *words).out
        recorded = cli("run", *words, "--record", str(path)).out
        assert recorded == f"{plain}\nrecorded: {path}\n"
        code, out, err = cli("replay", str(path))
        assert (code, err) == (0, "")
        assert out.startswith(plain)
        assert f"reproduced: this world plays {path} as it was recorded" in out
        assert f"recorded by: chaosops run {' '.join(words)} --record {path}" in out
        prompts = cli("run", *words, "--prompts").out
        assert cli("replay", str(path), "--prompts").out.startswith(prompts)


def test_replay_asks_no_model(cli: Cli, recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a policy was loaded")

    monkeypatch.setattr("chaosops.cli.commands.run.load_team", never)
    monkeypatch.setattr("chaosops.policies.registry.load_policy", never)
    code, out, _ = cli("replay", str(recording), "--prompts")
    assert code == 0
    assert "    Step 2 of 25." in out
    assert "  > I think\n  > so \ufffd[31m\n" in out
    assert "\x1b" not in out


def test_json_has_replies_and_prompts(cli: Cli, recording: Path) -> None:
    out = json.loads(cli("run", "--json", "--prompts", "--record", str(recording)).out)
    assert out["turns"][1]["reply"] == "I think\nso \x1b[31m"
    assert out["turns"][1]["prompt"][0]["role"] == "system"
    assert out["tokens_read"] > 0


def test_replay_writes_documents(cli: Cli, recording: Path, tmp_path: Path) -> None:
    markdown, page = tmp_path / "a" / "it.md", tmp_path / "b" / "it.html"
    code, out, _ = cli("replay", str(recording), "--markdown", str(markdown), "--html", str(page))
    assert code == 0
    assert out.endswith(f"written: {markdown}\nwritten: {page}\n")
    assert markdown.read_text().startswith("# Incident `too little capacity`")
    assert page.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["replay"], "required: FILE"),
        (["replay", "missing.json"], "cannot read recording missing.json"),
        (["replay", "pyproject.toml"], "pyproject.toml is not a whole recording"),
        (["replay", "x.json", "--html", "/proc/x/y"], "cannot write /proc/x/y"),
        (["replay", "x.json", "--markdown", "src"], "it is a folder; choose another --markdown"),
        (["run", "--record", "/proc/x/y"], "choose another --record"),
        (["eval", "--side-by-side", "0"], "whole number from 1"),
    ],
)
def test_mistakes_are_one_line_and_code_2(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    assert said in cli(*words).refusal


def test_another_world_is_named(cli: Cli, recording: Path) -> None:
    content = json.loads(recording.read_text())
    content["episode"]["reward"] += 1
    content["episode"]["pack_hash"] = "0" * 16
    recording.write_text(json.dumps(content))
    code, out, err = cli("replay", str(recording))
    assert (code, out) == (2, "")
    assert "this version of the world does not reproduce the recording" in err
    assert "recorded with pack classic 0000000000000000" in err
