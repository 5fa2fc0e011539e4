"""A run as Phoenix has it, asked back over its API."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chaosops import Team
from tests import phoenix
from tests.conftest import Outcome
from tests.fake_model import FakeModel


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        with phoenix.running(tmp_path_factory.mktemp("phoenix")) as url:
            yield url
    except phoenix.NoPhoenix as reason:
        pytest.skip(str(reason))


def test_a_run_is_readable_in_phoenix(
    cli: Callable[..., Outcome], server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = FakeModel("heuristic", {5: "I think\nso \x1b[31m \ud83d"})
    monkeypatch.setattr("chaosops.cli.commands.run.load_team", lambda name: Team.of(model))
    episode = tmp_path / "episode.json"
    words = ["--pack", "arena", "--split", "test", "--tier", "hard", "--seed", "3"]
    done = cli("run", *words, "--record", str(episode), "--otlp", server)
    assert done.code == 0, done.err
    trace_id = done.out.rpartition("sent: trace ")[2].split()[0]
    steps = len(json.loads(episode.read_text())["episode"]["decisions"])

    spans = stored(server, trace_id, 2 + 2 * steps)
    kinds = [span["span_kind"] for span in spans]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "CHAIN": 1,
        "AGENT": steps,
        "LLM": steps,
        "EVALUATOR": 1,
    }
    (root,) = (span for span in spans if span["parent_id"] is None)
    assert root["name"] == "invoke_workflow chaosops"
    for span in spans:
        about = span["attributes"]
        labels = [name for name in about if name.startswith("chaosops.label.")]
        assert bool(labels) == (span["name"] == "labels")
        if span["span_kind"] == "LLM":
            assert about["llm.model_name"] == "fake/tiny-1b"
            assert about["llm.token_count.prompt"] > 0
            assert about["llm.input_messages.0.message.role"] == "system"
            assert about["llm.input_messages.1.message.content"].startswith("Step ")
    failed = [span["name"] for span in spans if span["status_code"] == "ERROR"]
    assert failed == ["invoke_agent sre"]

    again = cli("replay", str(episode), "--otlp", server)
    assert f"sent: trace {trace_id} to {server}" in again.out
    assert len(stored(server, trace_id, 2 + 2 * steps)) == 2 + 2 * steps


def stored(server: str, trace_id: str, expected: int) -> list[dict[str, Any]]:
    """Phoenix answers before it has written all of a trace."""
    spans: list[dict[str, Any]] = []
    for _ in range(60):
        try:
            page = phoenix.get(
                f"{server}/v1/projects/chaosops/spans?limit=1000&trace_id={trace_id}"
            )
            spans = json.loads(page)["data"]
        except OSError:  # the project comes with its first span
            spans = []
        if len(spans) >= expected:
            break
        time.sleep(0.5)
    assert {span["context"]["trace_id"] for span in spans} == {trace_id}
    assert len(spans) == expected
    return spans
