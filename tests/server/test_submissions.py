"""A submission plays each episode once, and an owner cannot open one by mistake."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest
from websockets.exceptions import ConnectionClosed

from chaosops.cli import main
from chaosops.evaluation.submission import (
    read_submission,
)
from chaosops.policies.llm.trained_on import write_trained_on
from chaosops.trained import trained_adapter
from tests.server.conftest import Evaluating, StartServer
from tests.server.evaluating import (
    PrivateSplit,
    play_out,
    results_of,
    status_of,
)
from tests.server.talk import line_to


def test_an_episode_that_is_left_is_given_up_and_never_comes_back(
    evaluating: Evaluating, capsys: pytest.CaptureFixture[str]
) -> None:
    split, served = evaluating
    token = split.open(capsys, "left", "--seeds", "4")
    with line_to(served.socket) as line:
        agents = line.reset(submission=token)["rules"]["agents"]
        flag = {"action": "flag_rogue", "target": agents[0]}
        line.step(**flag, suspicion={agents[0]: 0.9})
        second = line.reset(submission=token)  # the first is given up
        assert second["view"] != line.heard[0]
    with line_to(served.socket) as line:  # and the second by going away
        play_out(line, line.reset(submission=token))
        assert line.state()["episodes_left"] == 1
        play_out(line, line.reset(submission=token))
        assert line.state()["episodes_left"] == 0
        for _ in range(2):
            assert "is complete" in line.ask("reset", submission=token)["data"]["message"]
    episodes = results_of(split, "left")["episodes"]
    assert [e["scenario"]["seed"] for e in episodes] == [s.seed for s in split.scenarios("left")]
    status = status_of(results_of(split, "left"))
    assert (status["given_up"], status["given_up_episodes"]) == (2, [0, 1])
    flags = [turn for turn in episodes[0]["turns"] if turn["action"] == "flag_rogue"]
    assert [turn["target"] for turn in flags] == [agents[0]], "what was done counts"
    suspected = [t["suspicion"] for t in episodes[0]["turns"] if t["role"] == "oversight"]
    assert suspected == [{agents[0]: 0.9}] * len(suspected), "and whom he suspected last"
    nobody = [t["suspicion"] for t in episodes[1]["turns"] if t["role"] == "oversight"]
    assert all(value == 0.0 for turn in nobody for value in turn.values())


def test_a_killed_server_gives_nobody_a_second_try(
    start_server: StartServer, split: PrivateSplit, capsys: pytest.CaptureFixture[str]
) -> None:
    token = split.open(capsys, "acme", "--seeds", "3")
    served = start_server("--evaluation", *split.options)
    with line_to(served.socket) as line:
        play_out(line, line.reset(submission=token))
        agents = line.reset(submission=token)["rules"]["agents"]
        line.step(action="flag_rogue", target=agents[-1])
        served.process.kill()
        served.process.wait()
    progress = split.results / "acme" / "progress.jsonl"
    progress.write_bytes(progress.read_bytes() + b'{"act":1,"sa')  # cut off in mid-line
    again = start_server("--evaluation", *split.options)
    with line_to(again.socket) as line:
        play_out(line, line.reset(submission=token))
        assert "is complete" in line.ask("reset", submission=token)["data"]["message"]
    content = results_of(split, "acme")
    status = status_of(content)
    assert status["given_up_episodes"] == [1]
    targets = [turn.get("target") for turn in content["episodes"][1]["turns"]]
    assert agents[-1] in targets


def test_silence_gives_an_episode_up(
    start_server: StartServer, split: PrivateSplit, capsys: pytest.CaptureFixture[str]
) -> None:
    token = split.open(capsys, "acme", "--seeds", "1")
    served = start_server("--evaluation", *split.options, "--idle-timeout", "0.5")
    with line_to(served.socket) as line:
        line.reset(submission=token)
        assert line.hear()["data"]["code"] == "IDLE_TIMEOUT"
        with pytest.raises(ConnectionClosed):
            line.hear()
    with line_to(served.socket) as line:
        assert "is complete" in line.ask("reset", submission=token)["data"]["message"]
    status = status_of(results_of(split, "acme"))
    assert status["given_up"] == 1


def test_a_stopped_server_leaves_nothing_open(
    start_server: StartServer, split: PrivateSplit, capsys: pytest.CaptureFixture[str]
) -> None:
    token = split.open(capsys, "acme", "--seeds", "2")
    served = start_server("--evaluation", *split.options)
    with line_to(served.socket) as line:
        play_out(line, line.reset(submission=token))
        line.reset(submission=token)
        served.process.terminate()
        served.process.wait()
    start_server("--evaluation", *split.options)
    status = status_of(results_of(split, "acme"))
    assert status["given_up_episodes"] == [1]


def test_close_gives_up_what_was_not_played(
    split: PrivateSplit, capsys: pytest.CaptureFixture[str]
) -> None:
    token = split.open(capsys, "acme", "--seeds", "3")
    env = split.environment()
    env.reset(submission=token)
    assert main(["submission", "close", "acme", *split.options]) == 0
    assert "3 episodes, 3 of them given up" in capsys.readouterr().out
    assert main(["submission", "close", "acme", *split.options]) == 2
    assert "holds its signed results" in capsys.readouterr().err


def test_a_server_holds_its_folder(
    evaluating: Evaluating, capsys: pytest.CaptureFixture[str]
) -> None:
    split, served = evaluating
    split.open(capsys, "held", "--seeds", "2")
    assert main(["submission", "close", "held", *split.options]) == 2
    assert "is in use by another chaosops" in capsys.readouterr().err
    token = split.open(capsys, "later", "--seeds", "1")  # while it runs
    with line_to(served.socket) as line:
        assert play_out(line, line.reset(submission=token))[-1]["done"]
    assert main(["submission", "open", "later", *split.options]) == 2
    assert "a submission is measured once" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["acme", "--partners", "oracle"], "oracle knows the truth and would reveal it"),
        (["acme", "--split", "classic"], "unknown split 'classic'; allowed: train, test"),
        (["../acme"], "named with letters, digits"),
        (["oracle"], "'oracle' is the name of a policy"),
        (["acme", "--roles", "boss"], "unknown role 'boss'"),
        (["acme", "--tiers", "brutal"], "unknown tier 'brutal'"),
        (["acme", "--series", "a b"], "a series is named with letters"),
    ],
)
def test_a_submission_that_cannot_be_measured_is_refused(
    split: PrivateSplit, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["submission", "open", *words, *split.options]) == 2
    assert said in capsys.readouterr().err
    assert not list(split.results.glob("*"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--evaluation"], "--evaluation needs --secret-file FILE and --results FOLDER"),
        (["--results", "x"], "belong to --evaluation"),
    ],
)
def test_evaluation_mode_is_asked_for_whole(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["serve", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_submission_of_another_secret_is_not_served(
    split: PrivateSplit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    split.open(capsys, "acme", "--seeds", "1")
    assert main(["secret", str(tmp_path / "second")]) == 0
    words = ["--secret-file", str(tmp_path / "second"), "--results", str(split.results)]
    assert main(["serve", "--evaluation", "--port", "0", *words]) == 2
    assert "acme was opened with another secret" in capsys.readouterr().err


def test_a_policy_that_needs_the_truth_cannot_submit(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["submit", "--url", "http://127.0.0.1:9", "--token", "x", "--policy", "oracle"]
    assert main(words) == 2
    assert "needs the truth, which a submission does not get" in capsys.readouterr().err


def test_a_model_of_another_pack_is_refused_before_an_episode_begins(
    evaluating: Evaluating, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    split, served = evaluating
    token = split.open(capsys, "model", "--seeds", "1")
    adapter = copytree(trained_adapter(), tmp_path / "classic_alone")
    write_trained_on(adapter, {"classic": "1"})
    model = f"local:smollm2+adapter={adapter}+format=menu"
    words = ["submit", "--url", served.url, "--token", token, "--policy", model]
    assert main(words) == 2
    assert capsys.readouterr().err.strip().splitlines()[-1] == (
        f"chaosops: {served.url}: the policy was trained on classic (version 1)"
        " and not on arena (version 2): name another policy"
    )
    with line_to(served.socket) as line:
        for value in ({}, {"arena": 2}, "arena"):
            refused = line.ask("reset", submission=token, trained_on=value)["data"]["message"]
            assert "trained_on names packs and their versions" in refused
        play_out(line, line.reset(submission=token, trained_on={"arena": "2"}))
        assert line.state()["episodes_left"] == 0
    assert status_of(results_of(split, "model"))["given_up"] == 0


def test_two_submissions_of_a_series_play_the_same_and_others_do_not(
    split: PrivateSplit, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, series in (("one", "spring"), ("two", "spring"), ("three", "autumn")):
        split.open(capsys, name, "--seeds", "20", "--series", series)
    one, two, three = ({s.seed for s in split.scenarios(n)} for n in ("one", "two", "three"))
    assert one == two
    assert not one & three
    assert len(one) == 20
    assert read_submission(split.results / "one").token_sha256 not in ("", "one")
