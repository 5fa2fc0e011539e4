from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chaosops import Team, load_policy, make_scenario, play, play_many
from chaosops.core.actions import Unreadable
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.evaluation.matrix import scenarios
from chaosops.rubrics import standard
from chaosops.wire.episodes import episode_to_wire, from_record, to_record
from chaosops.wire.recordings import read_recording, write_recording
from tests.fake_model import FakeModel

NASTY = 'no JSON: "\\ \x1b[31m \ud83d </details> ``` <script>'


def through_json(episode: Episode) -> Episode:
    return from_record(json.loads(json.dumps(to_record(episode))))


def talk() -> Episode:
    model = FakeModel("heuristic", {2: NASTY, 3: '{"action":"restart","target":"db"}'})
    seats = {**dict.fromkeys(Role, model), Role.MANAGER: load_policy("heuristic")}
    return play(make_scenario("autoscaler_cost_cut", tier="hard", seed=42), Team(seats))


@pytest.mark.parametrize("policy", ["random", "keyword", "heuristic", "oracle"])
def test_what_was_played_comes_back_whole(policy: str) -> None:
    matrix = [*scenarios("full", seeds=2), *scenarios(pack="arena", split="test", seeds=5)]
    for episode in play_many(matrix, Team.of(load_policy(policy))):
        again = through_json(episode)
        assert again == episode
        assert episode_to_wire(again) == episode_to_wire(episode)


def test_exchanges_and_unreadable_replies_come_back_too() -> None:
    episode = talk()
    again = through_json(episode)
    assert again == episode
    assert isinstance(again.turns[1].decision.action, Unreadable)
    assert again.turns[1].decision.exchange is not None
    assert again.turns[1].decision.exchange.reply == NASTY
    assert again.turns[3].decision.exchange is None  # a script sat there


def test_the_chances_of_actions_come_back_and_stay_out_of_results() -> None:
    episode = talk()
    first = episode.turns[0]
    told = {"noop": 0.75, "restart db": 0.2}
    episode.turns[0] = first._replace(decision=first.decision._replace(chances=told))
    assert through_json(episode) == episode
    assert "chances" not in episode_to_wire(episode)["turns"][0]
    record = to_record(episode)
    record["decisions"][0]["chances"] = {"noop": 2}
    with pytest.raises(BadInput, match="chances of noop must be from 0 to 1"):
        from_record(record)


def test_derived_figures_of_exchanges() -> None:
    episode = talk()
    wire = episode_to_wire(episode)
    assert (
        wire["tokens_read"] == episode.tokens_read == sum(e.tokens_read for e in episode.exchanges)
    )
    assert wire["tokens_written"] == episode.tokens_written > 0
    assert wire["retries"] == episode.retries == sum(e.attempts == 2 for e in episode.exchanges) > 0
    assert wire["turns"][1]["reply"] == NASTY
    assert "reply" not in wire["turns"][3]
    scripted = episode_to_wire(play(make_scenario("cascade"), Team.of(load_policy("oracle"))))
    assert not {"tokens_read", "tokens_written", "retries"} & set(scripted)


def test_an_episode_with_other_rewards_needs_its_rubric() -> None:
    rubric = standard(rogue_bonus_multiplier=2.0)
    scenario = make_scenario("autoscaler_cost_cut", tier="hard")
    episode = play(scenario, Team.of(load_policy("oracle")), rubric=rubric)
    assert from_record(to_record(episode), rubric=rubric) == episode
    with pytest.raises(BadInput, match="does not reproduce"):
        from_record(to_record(episode))


def test_a_file_keeps_episode_and_manifest(tmp_path: Path) -> None:
    episode, path = talk(), tmp_path / "one.json"
    write_recording(path, episode, {"command": "chaosops run", "commit": None})
    assert read_recording(path) == (episode, {"command": "chaosops run", "commit": None})
    assert [p.name for p in tmp_path.iterdir()] == ["one.json"]
    with pytest.raises(BadInput, match="cannot write recording"):
        write_recording(tmp_path / "no" / "folder.json", episode, {})


def altered(**changes: Any) -> dict[str, Any]:
    episode = play(make_scenario("db_deadlock", seed=3), Team.of(load_policy("oracle")))
    return {**json.loads(json.dumps(to_record(episode))), **changes}


DECISION = {"action": {"action": "noop"}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"reward": 7.5}, "the reward is [+]134, recorded [+]7.5"),
        ({"decisions": [DECISION]}, "not over after its 1 turns"),
        ({"decisions": altered()["decisions"] * 2}, "over after 3 of 6 turns"),
        ({"reward": 1, "pack_hash": "0" * 16}, "recorded with pack classic 0000000000000000, this"),
        ({"reward": 1}, "so the recording was altered"),
        ({"reward": True}, "'reward', a number"),
        ({"team": 3}, "'team' of type str"),
        ({"decisions": None}, "'decisions' of type list"),
        ({"scenario": {}}, "'pack' of type str"),
        ({"scenario": {**altered()["scenario"], "failure": "flood"}}, "unknown scenario 'flood'"),
        ({"scenario": {**altered()["scenario"], "seed": True}}, "'seed' of type int"),
        ({"scenario": {**altered()["scenario"], "limit": 0}}, "cannot be played"),
        ({"decisions": [7]}, "decision 1 of the recording: expected an object"),
        ({"decisions": [{"action": {"action": "fly"}}]}, "unknown_action: "),
        ({"decisions": [{"action": {"action": "unreadable"}}]}, "'error' of type str"),
        ({"decisions": [{**DECISION, "suspicion": {"a": "b"}}]}, "object of numbers"),
        ({"decisions": [{**DECISION, "suspicion": {"a": float("nan")}}]}, "from 0 to 1, got nan"),
        ({"decisions": [{**DECISION, "suspicion": {"a": 1.5}}]}, "from 0 to 1, got 1.5"),
        ({"decisions": [{**DECISION, "exchange": None}]}, "'exchange' of type dict"),
        ({"decisions": [{**DECISION, "exchange": {"attempts": 1}}]}, "'prompt' of type list"),
        (
            {"decisions": [{**DECISION, "exchange": {"prompt_sha256": "", "prompt": [1]}}]},
            "list of chat messages",
        ),
        (
            {"decisions": [{**DECISION, "exchange": {"prompt_sha256": "", "corrections": [{}]}}]},
            "pairs of a reply and its error",
        ),
    ],
)
def test_a_record_that_cannot_be_is_named(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        from_record(altered(**changes))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not a whole recording"),
        (b"\xff\xfe\x00", "not UTF-8 text"),
        (b"[" * 100_000, "not a whole recording"),
        (b"[]", "is not a ChaosOps recording"),
        (b'{"manifest": {}}', "is not a ChaosOps recording"),
        (b'{"format": "chaosops recording 1"}', "'manifest' of type dict"),
        (b'{"format": "chaosops recording 1", "manifest": {}, "episode": {}}', "'decisions'"),
        (
            b'{"format": "chaosops recording 1", "manifest": {}, "episode": {"decisions": []}}',
            "'scenario'",
        ),
        (b'{"format": "chaosops recording 1", "manifest": NaN}', "NaN is not a JSON number"),
    ],
)
def test_a_foreign_file_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "foreign.json"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=said) as caught:
        read_recording(path)
    assert str(path) in str(caught.value)
    with pytest.raises(BadInput, match="cannot read recording"):
        read_recording(tmp_path / "missing.json")


def test_a_file_cut_anywhere_is_no_recording(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    write_recording(path, talk(), {})
    whole = path.read_bytes()
    for size in range(0, len(whole) - 2, len(whole) // 50):
        path.write_bytes(whole[:size])
        with pytest.raises(BadInput, match="not a whole recording"):
            read_recording(path)


def test_a_recording_of_the_first_format_can_be_read(tmp_path: Path) -> None:
    episode, path = talk(), tmp_path / "old.json"
    record = to_record(episode)
    for turn, decision in zip(episode.turns, record["decisions"], strict=True):
        if turn.decision.exchange is not None:
            decision["exchange"] = turn.decision.exchange._asdict()
    old = {"format": "chaosops recording 1", "manifest": {}, "episode": record}
    path.write_text(json.dumps(old))
    assert read_recording(path).episode == episode


@pytest.mark.parametrize(
    "forge",
    [
        lambda content: content["manifest"].update(command="chaosops run --policy mine"),
        lambda content: content["episode"].update(team="mine"),
        lambda content: content["episode"]["decisions"][0]["exchange"].update(reply="mine"),
        lambda content: content["episode"]["decisions"][1].update(suspicion={"deploy_bot": 0.5}),
        lambda content: content["chain"].pop(),
        lambda content: content.pop("chain"),
    ],
)
def test_an_edited_recording_is_refused(tmp_path: Path, forge: Any) -> None:
    path = tmp_path / "one.json"
    write_recording(path, talk(), {"command": "chaosops run"})
    content = json.loads(path.read_text())
    forge(content)
    path.write_text(json.dumps(content))
    with pytest.raises(BadInput, match="its chain does not match its content"):
        read_recording(path)
