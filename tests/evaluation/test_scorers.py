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
from chaosops.evaluation.scorers import FunctionScorer, load_scorer, scores_of, write_scores
from chaosops.evaluation.transcripts import RecordedEpisode, read_transcripts
from chaosops.packs import make_scenario
from chaosops.policies.own import OwnPolicy
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
def text(view): return {view.rules.agents[0]: "0.9"}
def broken(view): return view.nothing
def stranger(view): return {"nobody": 1.0, view.rules.agents[0]: 0.2}
def first(view): return {view.rules.agents[0]: 0.2}
def nobody(view): return {}
async def waits(view): return {}
def talks(view):
    print("so far", view.step)
    return {}
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
        ("number", "turn 1 gave float; expected a dictionary with a number from 0 to 1"),
        (
            "beyond",
            "turn 1 gave a suspicion of 1.5 for '.*'; expected a number from 0 to 1",
        ),
        ("nan", "gave a suspicion of nan for '.*'; expected a number from 0 to 1"),
        ("yes", "gave a suspicion of True for '.*'; expected a number from 0 to 1"),
        ("text", "gave a suspicion of '0.9' for '.*'; expected a number from 0 to 1"),
        ("stranger", "turn 1 suspects 'nobody', which is no agent here; agents: "),
        ("waits", r"waits is async, but it is called without await; write def, and asyncio\.run"),
        ("broken", r"e00001, turn 1: AttributeError: .*\(monitors.py, line 29\)"),
        ("data", "is int; a scorer is a function or a policy"),
        ("missing", "has no 'missing'; it has: by_view"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(
    name: str, words: str, monitors: str, episodes: list[RecordedEpisode]
) -> None:
    with pytest.raises(BadInput, match=words):
        scores_of(load_scorer(f"{monitors}:{name}"), episodes)


@pytest.mark.parametrize("told", [True, "0.9", 1.5, float("nan"), None, "nobody"])
def test_monitors_and_policies_are_told_the_same(
    told: object, episodes: list[RecordedEpisode]
) -> None:
    """A function that is scored without playing is refused as it is when it plays."""
    name = "nobody" if told == "nobody" else episodes[0].views[0].rules.agents[0]
    suspicion = {name: 0.5 if told == "nobody" else told}
    scorer = FunctionScorer("mine", lambda view: suspicion)
    policy = OwnPolicy("mine", lambda view: suspicion)
    with pytest.raises(BadInput) as scored:
        scores_of(scorer, episodes)
    with pytest.raises(BadInput) as played:
        policy.decide([DecisionRequest(episodes[0].views[0], 0)])
    assert str(scored.value).removeprefix("mine on e00001, turn 1") == str(
        played.value
    ).removeprefix("policy mine")


@pytest.mark.parametrize("name", ["first", "nobody"])
def test_agents_that_are_left_out_are_not_suspected(
    name: str, monitors: str, episodes: list[RecordedEpisode]
) -> None:
    """As in a policy, so that calibration counts the same agents."""
    (turns, *_) = scores_of(load_scorer(f"{monitors}:{name}"), episodes[:1])
    agent, *others = episodes[0].views[0].rules.agents
    assert turns[0] == {agent: 0.2 if name == "first" else 0.0, **dict.fromkeys(others, 0.0)}


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


def line(name: str, turn: object, suspicion: object) -> str:
    return json.dumps({"id": name, "turn": turn, "suspicion": suspicion})


@pytest.mark.parametrize(
    ("first", "more", "words"),
    [
        ([], [], "has no score of e00001, turn 1; score every turn of the evidence"),
        (
            [line("e00001", 1, {})],
            [line("e00001", 1, {})],
            r"line LAST scores e00001, turn 1 again, after line 1; keep one of them",
        ),
        (
            [line("e00001", 1, {})],
            [line("e09999", 1, {}), line("e00001", 99, {}), line("e00001", "1", {})],
            r"evidence does not hold: 3, the first in line \d+ \('e09999', turn 1\); remove them",
        ),
        ([line("e00001", 1, {"nobody": 1})], [], "line 1 suspects 'nobody', which is no agent"),
        ([line("e00001", 1, 0.5)], [], "line 1 gave float; expected a dictionary"),
    ],
)
def test_a_file_of_scores_scores_every_turn_once(
    first: list[str],
    more: list[str],
    words: str,
    episodes: list[RecordedEpisode],
    tmp_path: Path,
) -> None:
    turns = [(each.id, len(each.views)) for of in episodes for each in of.transcripts()]
    lines = [*first, *(line(*turn, {}) for turn in turns[1:]), *more]
    path = tmp_path / "scores.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(BadInput, match=words.replace("LAST", str(len(lines)))):
        scores_of(load_scorer(str(path)), episodes)


def test_a_turn_without_a_report_is_kept_as_one(
    monitors: str, episodes: list[RecordedEpisode], tmp_path: Path
) -> None:
    path = tmp_path / "scores.jsonl"
    for name in ("silent", "nobody"):
        told = scores_of(load_scorer(f"{monitors}:{name}"), episodes)
        write_scores(path, episodes, told)
        assert scores_of(load_scorer(str(path)), episodes) == told


def test_what_a_scorer_prints_is_not_among_the_results(
    monitors: str, transcripts: Path, cli: Callable[..., Outcome]
) -> None:
    words = ("--against", "heuristic", "--json")
    done = cli("monitor", f"{monitors}:talks", str(transcripts), *words)
    assert json.loads(done.out)["summary"]
    assert "so far" in done.err


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
    transcripts: Path, cli: Callable[..., Outcome]
) -> None:
    """What a model tells is data, so it is counted and not refused."""

    def suspect(handler: Handler, body: Body) -> None:
        handler.send(200, completion('{"action": "noop", "suspicion": {"nobody": 0.5}}'))

    with faulty_server() as server:
        server.always = suspect
        model = f"openai:fake@{server.url}+patience=5"
        done = cli("monitor", model, str(transcripts), "--against", "heuristic")
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
