"""Scorers: functions of a view or a transcript, policies, classes and files of scores."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.evaluation.parquet import require_pyarrow
from chaosops.evaluation.scorers import load_scorer, scores_of
from chaosops.evaluation.transcripts import RecordedEpisode, read_transcripts
from chaosops.packs import make_scenario
from chaosops.policies.protocol import DecisionRequest
from chaosops.policies.registry import load_policy
from chaosops.roles.parse import parse_object
from chaosops.world import engine
from tests.conftest import Outcome
from tests.policies.llm.faulty_server import Body, Handler, completion, faulty_server

MONITORS = """
from chaosops.core.actions import Noop
from chaosops.core.decision import Decision

def by_view(view):
    return {agent: view.step / 100 for agent in view.rules.agents}

def by_transcript(transcript):
    assert transcript.view.role == "oversight"
    return {agent: len(transcript.acts) / 100 for agent in transcript.view.rules.agents}

class Callable:
    def __call__(self, view):
        return by_view(view)

class Policy:
    name, sees_truth = "mine", False
    def decide(self, requests):
        return [Decision(Noop(), by_view(request.view)) for request in requests]
    def status(self):
        return {"kind": "mine"}

def silent(view): return None
def number(view): return 0.5
def beyond(view): return {view.rules.agents[0]: 1.5}
def nan(view): return {view.rules.agents[0]: float("nan")}
def yes(view): return {view.rules.agents[0]: True}
def broken(view): return view.nothing
def stranger(view): return {"nobody": 1.0, view.rules.agents[0]: 0.2}
data = 7
def drawn(view, dice): return {agent: dice.unit() for agent in view.rules.agents}
"""


@pytest.fixture(scope="module")
def episodes(transcripts: Path) -> list[RecordedEpisode]:
    return read_transcripts(transcripts)[1]


@pytest.fixture
def monitors(tmp_path: Path) -> str:
    path = tmp_path / "monitors.py"
    path.write_text(MONITORS, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", ["by_view", "by_transcript", "Callable", "Policy"])
def test_every_kind_of_scorer_is_asked_on_every_turn(
    name: str, monitors: str, episodes: list[RecordedEpisode]
) -> None:
    """A view's step is the number of acts before it, so all of them score alike."""
    found = scores_of(load_scorer(f"{monitors}:{name}"), episodes)
    assert [len(turns) for turns in found] == [len(episode.views) for episode in episodes]
    for episode, turns in zip(episodes, found, strict=True):
        for view, suspicion in zip(episode.views, turns, strict=True):
            assert suspicion == dict.fromkeys(view.rules.agents, view.step / 100)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("number", "turn 1: returned float; return a dictionary"),
        ("beyond", "is 1.5; expected a number from 0 to 1"),
        ("nan", "is nan; expected a number from 0 to 1"),
        ("yes", "is True; expected a number from 0 to 1"),
        ("broken", r"e00001, turn 1: AttributeError: .*\(monitors.py, line 28\)"),
        ("data", "is int; a scorer is a function or a policy"),
        ("missing", "has no 'missing'; it has: by_view"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(
    name: str, words: str, monitors: str, episodes: list[RecordedEpisode]
) -> None:
    with pytest.raises(BadInput, match=words):
        scores_of(load_scorer(f"{monitors}:{name}"), episodes)


def test_draws_come_from_dice_and_repeat(monitors: str, episodes: list[RecordedEpisode]) -> None:
    first, again = (scores_of(load_scorer(f"{monitors}:drawn"), episodes[:2]) for _ in range(2))
    assert first == again
    assert first[0] != first[1]


@pytest.mark.parametrize("name", ["heuristic", "auditor", "keyword"])
def test_a_script_suspects_on_stored_views_what_it_suspects_live(
    name: str, episodes: list[RecordedEpisode]
) -> None:
    policy = load_policy(name)
    stored = scores_of(load_scorer(name), episodes[:3])
    for episode, turns in zip(episodes, stored, strict=False):
        seed = episode.label.scenario["seed"]
        env = Env(make_scenario(pack="arena", split="test", seed=seed))
        for act in episode.acts:
            if env.role is Role.OVERSIGHT:
                (live,) = policy.decide([DecisionRequest(env.view, 0)])
                assert turns.pop(0) == live.suspicion
            env.play(_decision(act.action))
        assert not turns


def _decision(action: Any) -> Decision:
    return Decision(parse_object(action))


def test_an_endpoint_is_a_scorer(episodes: list[RecordedEpisode]) -> None:
    """It is asked for a decision as Oversight. The confidence of its flag is its suspicion."""

    def flag(handler: Handler, body: Body) -> None:
        (line,) = re.findall(r"^Agents: (.*)$", body["messages"][0]["content"], re.MULTILINE)
        target = line.split(", ")[-1]
        wire = {"action": "flag_rogue", "target": target, "confidence": 0.7}
        handler.send(200, completion(json.dumps(wire)))

    with faulty_server() as server:
        server.always = flag
        found = scores_of(load_scorer(f"openai:fake@{server.url}+patience=5"), episodes[:2])
    for episode, turns in zip(episodes, found, strict=False):
        *others, last = episode.views[0].rules.agents
        assert turns == [{**dict.fromkeys(others, 0.0), last: 0.7}] * len(episode.views)


def test_scores_from_elsewhere_are_a_scorer(
    monitors: str, transcripts: Path, tmp_path: Path, cli: Callable[..., Outcome]
) -> None:
    scores = tmp_path / "scores.jsonl"
    own = f"{monitors}:by_view"
    few = ("--against", "heuristic", "--json")
    first = cli("monitor", own, str(transcripts), "--save-scores", str(scores), *few)
    again = cli("monitor", str(scores), str(transcripts), *few)
    assert (first.code, again.code) == (0, 0), again.err
    one, other = json.loads(first.out), json.loads(again.out)
    assert one["monitors"][own]["reads"] == "view"
    for row, same in zip(one["summary"], other["summary"], strict=True):
        assert {**row, "policy": ""} == {**same, "policy": ""}
    cut = scores.read_text(encoding="utf-8").splitlines()[1:]
    scores.write_text("\n".join(cut), encoding="utf-8")
    refusal = cli("monitor", str(scores), str(transcripts)).refusal
    assert "has no score of e00001, turn 1; score every turn of the evidence" in refusal


def test_scores_replace_nothing_that_was_read(
    monitors: str, transcripts: Path, tmp_path: Path, cli: Callable[..., Outcome]
) -> None:
    before = {path: path.read_bytes() for path in (*transcripts.iterdir(), Path(monitors))}
    own = f"{monitors}:by_view"
    for taken in ("evidence.jsonl", "labels.jsonl"):
        named = str(transcripts / taken)
        told = cli("monitor", own, str(transcripts), "--save-scores", named).refusal
        assert "this command uses it already" in told
    for named in (monitors, str(transcripts / "manifest.json"), str(tmp_path / "scores.txt")):
        told = cli("monitor", own, str(transcripts), "--save-scores", named).refusal
        assert "name a *.jsonl file" in told
    assert before == {path: path.read_bytes() for path in before}


def test_a_scorer_that_exits_is_an_error(
    tmp_path: Path, transcripts: Path, cli: Callable[..., Outcome]
) -> None:
    path = tmp_path / "leaves.py"
    path.write_text("import sys\n\ndef score(view):\n    sys.exit(0)\n", encoding="utf-8")
    told = cli("monitor", f"{path}:score", str(transcripts)).refusal
    assert "SystemExit: 0 (leaves.py, line 4)" in told


def test_no_world_is_needed(
    monitors: str,
    transcripts: Path,
    cli: Callable[..., Outcome],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def played(*_: object) -> None:
        raise AssertionError("a world was started")

    monkeypatch.setattr(engine, "start", played)
    monkeypatch.setattr(engine, "step", played)
    done = cli("monitor", f"{monitors}:by_view", str(transcripts))
    assert done.code == 0, done.err
    for name in (
        "monitors.py:by_view",
        "random",
        "keyword",
        "heuristic",
        "last_toucher",
        "auditor",
    ):
        assert done.out.count(name) >= 2, "a row, and a row of differences"


def test_a_monitor_that_is_silent_has_no_figures(
    monitors: str, transcripts: Path, cli: Callable[..., Outcome]
) -> None:
    words = ("--against", "heuristic", "--json")
    done = cli("monitor", f"{monitors}:silent", str(transcripts), *words)
    (row, _) = json.loads(done.out)["summary"]
    assert {row[key]["value"] for key in row if isinstance(row[key], dict)} - {None} == {
        row["auroc_length_alone"]["value"]
    }


def test_names_that_are_no_agents_are_counted_and_told(
    monitors: str, transcripts: Path, cli: Callable[..., Outcome]
) -> None:
    done = cli("monitor", f"{monitors}:stranger", str(transcripts), "--against", "heuristic")
    assert "names that are not agents of the fleet" in done.out


def test_who_sees_the_truth_is_no_monitor(transcripts: Path, cli: Callable[..., Outcome]) -> None:
    refusal = cli("monitor", "oracle", str(transcripts)).refusal
    assert "oracle sees the truth, which transcripts do not hold" in refusal


def test_without_pyarrow_the_pip_line_is_told(
    tmp_path: Path, cli: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtra, match=r"pip install .*parquet"):
        require_pyarrow()
    done = cli("transcripts", str(tmp_path / "out"), "--seeds", "1")
    assert done.code == 0
    assert "no Parquet files: Parquet needs pyarrow" in done.err
    assert not list((tmp_path / "out").glob("*.parquet"))


def test_transcripts_are_not_replaced_unasked(
    transcripts: Path, cli: Callable[..., Outcome]
) -> None:
    assert "--force replaces them" in cli("transcripts", str(transcripts)).refusal
    assert "does not measure overseers" in cli("transcripts", "x", "--pack", "classic").refusal
