"""``chaosops publish`` against a hub on loopback."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from huggingface_hub import constants

from tests.conftest import Outcome
from tests.hub.hub_server import TOKEN, HubServer
from tests.report.run_folder import make_results, make_run

Cli = Callable[..., Outcome]
# The library's own way to send a large file.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "runs/small")


@pytest.fixture(autouse=True)
def _large_files_by_lfs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)


def test_everything_but_pickles_is_pushed_in_one_commit(
    cli: Cli, hub: HubServer, run: Path, tmp_path: Path
) -> None:
    make_results(tmp_path / "arena_test", run)
    (tmp_path / "arena_test/episodes.jsonl").write_text("a journal\n")
    (run / "checkpoints/step-1").mkdir(parents=True)
    (run / "checkpoints/step-1/optimizer.pt").write_bytes(b"\x80\x02another pickle")
    words = ["publish", str(run), "--repo", "ada/overseer"]
    code, out, err = cli(*words, "--results", str(tmp_path / "arena_test"), "--private")
    assert code == 0, err
    assert f"published: {hub.url}/ada/overseer (9 files)" in out
    assert "left out: checkpoint.pt, checkpoints (pickles are not published)" in out
    assert hub.private == {"ada/overseer"}
    files = hub.repos["ada/overseer"]
    assert set(files) == {
        "README.md",
        "adapter_config.json",
        "adapter_model.safetensors",
        "learning_curve.png",
        "metrics.jsonl",
        "recipe.toml",
        "results/arena_test/monitor.json",
        "results/arena_test/results.json",
        "results/arena_test/summary.json",
    }
    weights = (run / "adapter/adapter_model.safetensors").read_bytes()
    assert files["adapter_model.safetensors"] == weights
    assert files["README.md"] == (run / "README.md").read_bytes()
    assert hashlib.sha256(weights).hexdigest() in files["README.md"].decode()
    assert files["learning_curve.png"].startswith(b"\x89PNG")
    assert len(hub.sent("/commit/")) == 1
    assert not any(b"pickle" in request.body for request in hub.requests)
    assert TOKEN not in out + err


def test_a_repository_that_exists_is_written_to(cli: Cli, hub: HubServer, run: Path) -> None:
    hub.repos["ada/overseer"] = {"old.txt": b"old"}
    code, _, err = cli("publish", str(run), "--repo", "ada/overseer")
    assert code == 0, err
    assert {"old.txt", "README.md"} <= set(hub.repos["ada/overseer"])


def test_large_files_may_go_through_xet(
    cli: Cli, hub: HubServer, run: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As they do by default."""
    if not version("hf_xet").startswith("1.8."):
        pytest.skip("the hub on loopback speaks xet as of hf_xet 1.8")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", False)
    monkeypatch.setenv("HF_XET_CACHE", str(tmp_path / "xet"))
    code, _, err = cli("publish", str(run), "--repo", "ada/overseer")
    assert code == 0, err
    weights = (run / "adapter/adapter_model.safetensors").read_bytes()
    assert hub.chunks > len(weights)
    known_by = hashlib.sha256(weights).hexdigest().encode()
    assert hub.repos["ada/overseer"]["adapter_model.safetensors"] == known_by


def test_without_a_repository_the_card_is_written_and_nothing_sent(
    cli: Cli, hub: HubServer, run: Path
) -> None:
    code, out, err = cli("publish", str(run))
    assert code == 0, err
    assert out == f"written: {run / 'README.md'}\n"
    assert "**Not evaluated.**" in (run / "README.md").read_text()
    assert hub.requests == []


def test_a_rehearsal_sends_and_writes_nothing(
    cli: Cli, hub: HubServer, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    code, out, err = cli("publish", str(run), "--repo", "ada/overseer", "--dry-run")
    assert code == 0, err
    assert hub.requests == []
    assert not (run / "README.md").exists()
    shown = [line.split()[-1] for line in out.splitlines() if line.startswith("  ")]
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    cli("publish", str(run), "--repo", "ada/overseer")
    assert set(shown) == set(hub.repos["ada/overseer"])


@pytest.mark.parametrize("name", ["adapter_model.bin", "extra.pkl", "Weights.PT"])
def test_a_pickle_beside_the_adapter_is_refused(
    cli: Cli, hub: HubServer, run: Path, name: str
) -> None:
    (run / "adapter" / name).write_bytes(b"\x80\x02")
    refusal = cli("publish", str(run), "--repo", "ada/overseer").refusal
    assert f"{name} is a pickle, which runs code" in refusal
    assert hub.requests == []


def test_a_pickle_by_another_name_is_refused(cli: Cli, hub: HubServer, run: Path) -> None:
    (run / "adapter/adapter_model.safetensors").write_bytes(b"\x80\x02" + b"x" * 100)
    refusal = cli("publish", str(run), "--repo", "ada/overseer").refusal
    assert "is not a safetensors file" in refusal
    assert hub.requests == []


def test_an_adapter_of_a_local_base_is_refused(cli: Cli, hub: HubServer, tmp_path: Path) -> None:
    run = make_run(tmp_path / "r", base=str(tmp_path))
    refusal = cli("publish", str(run), "--repo", "ada/overseer").refusal
    assert "a folder that others do not have" in refusal
    assert hub.requests == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--repo", "overseer"], "write OWNER/NAME"),
        (["--private"], "name a repository: --repo"),
        (["--dry-run"], "name a repository: --repo"),
        (["--results", "nowhere"], "evaluate it: chaosops eval --policies local:smollm2+adapter="),
    ],
)
def test_mistakes_are_told_before_anything_is_sent(
    cli: Cli, hub: HubServer, run: Path, words: list[str], said: str
) -> None:
    assert said in cli("publish", str(run), *words).refusal
    assert hub.requests == []


def test_two_results_of_one_name_are_refused(
    cli: Cli, hub: HubServer, run: Path, tmp_path: Path
) -> None:
    for place in ("a/test", "b/test"):
        make_results(tmp_path / place, run)
    places = [str(tmp_path / place) for place in ("a/test", "b/test")]
    refusal = cli("publish", str(run), "--results", *places).refusal
    assert "two files would be called results/test/" in refusal


def test_no_token_and_a_refusal_are_told(
    cli: Cli, hub: HubServer, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = cli("publish", str(run), "--repo", "somebody/else")
    assert code == 2
    assert "publishing somebody/else: the hub answers 403, no right to write to somebody" in err
    monkeypatch.delenv("HF_TOKEN")
    code, _, err = cli("publish", str(run), "--repo", "ada/overseer")
    assert code == 2
    assert "publishing needs a token" in err
    assert not hub.repos
