"""Evaluation mode: a submission is measured, and neither learns the truth nor chooses its seeds."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from starlette.routing import WebSocketRoute
from websockets.exceptions import ConnectionClosed, InvalidStatus

from chaosops import Env, make_scenario, play
from chaosops.cli import main
from chaosops.client.submission import play_submission
from chaosops.core.vocabulary import Role, Tier
from chaosops.evaluation.results import Results, save
from chaosops.evaluation.secret import create_secret, read_secret
from chaosops.evaluation.signature import sign
from chaosops.evaluation.stored import read_results
from chaosops.evaluation.submission import (
    Submission,
    new_token,
    read_submission,
    token_digest,
    write_submission,
)
from chaosops.policies.registry import load_policy
from chaosops.report.written import derived_files, judged
from chaosops.rollout import Team, load_team
from chaosops.server.app import Settings, build_app
from chaosops.server.evaluation_mode import REFUSAL
from chaosops.wire.episodes import from_record, record_of
from chaosops.wire.openenv import ChaosOpsAction
from tests.server.conftest import Running, StartServer, running_server
from tests.server.evaluating import PrivateSplit, play_out, private_split
from tests.server.talk import Line, line_to
from tests.server.test_tables import open_table, sit
from tests.server.test_truth import FORBIDDEN_KEYS, TELLTALES, changing_part, keys_in, quiet_action

CANDIDATES = 200


class Evaluating(NamedTuple):
    split: PrivateSplit
    served: Running


@pytest.fixture(scope="module")
def evaluating(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evaluating]:
    """One server for all tests that leave it running; it finds their submissions by itself."""
    split = private_split(tmp_path_factory.mktemp("private"))
    with running_server("--evaluation", *split.options, "--idle-timeout", "60") as served:
        yield Evaluating(split, served)


@pytest.fixture
def split(tmp_path: Path) -> PrivateSplit:
    """For tests that stop their server, or need none."""
    return private_split(tmp_path)


def results_of(split: PrivateSplit, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((split.results / name / "results.json").read_text())
    return content


def status_of(content: dict[str, Any]) -> dict[str, Any]:
    """Of the submission, beside its partners'."""
    (team,) = content["manifest"]["policies"].values()
    status: dict[str, Any] = team["oversight"]
    assert team["sre"] == load_policy("heuristic").status()
    return status


# The attack: match a first view against candidate seeds


def matching_seed(line: Line, view: dict[str, Any]) -> int | None:
    for seed in range(CANDIDATES):
        options = {"pack": "arena", "split": "test", "tier": "hard", "seed": seed}
        if line.reset(**options, include=["view"])["view"] == view:
            return seed
    return None


def test_in_open_mode_a_first_view_tells_the_seed_and_the_seed_tells_the_truth(
    served: Running,
) -> None:
    """Documented in docs/server.md: the open mode is for training, not for measuring others."""
    opened = open_table(served, pack="arena", split="test", tier="hard", seed=CANDIDATES - 3)
    seats = [line_to(served.socket, "/seat") for _ in Role]
    with seats[0] as sre, seats[1] as oversight, seats[2] as dev, seats[3] as manager:
        for line, role in zip((sre, oversight, dev, manager), opened["tokens"], strict=True):
            assert sit(line, opened["tokens"][role])["type"] == "seated"
        view = sre.hear()["data"]["view"]
    with line_to(served.socket) as line:
        assert matching_seed(line, view) == CANDIDATES - 3
        debrief = play_out(line, line.step(action="noop"))[-1]["debrief"]
    assert debrief["failure"]


def test_in_evaluation_mode_no_candidate_matches(
    served: Running, evaluating: Evaluating, capsys: pytest.CaptureFixture[str]
) -> None:
    split, hidden = evaluating
    token = split.open(capsys, "candidates", "--roles", "all", "--seeds", "2")
    with line_to(hidden.socket) as line, line_to(served.socket) as elsewhere:
        seen = line.reset(submission=token)
        assert seen["role"] == "sre"
        assert matching_seed(elsewhere, seen["view"]) is None
        for probe in ({"seed": 1}, {"index": 1}, {"tier": "hard"}, {"episode_id": "x"}):
            refused = line.ask("reset", submission=token, **probe)
            assert "the owner's plan chooses the episodes" in refused["data"]["message"]
        assert line.state()["episodes_left"] == 1, "a refused reset costs nothing"


# What a player can hear


def test_no_answer_holds_the_truth(
    evaluating: Evaluating, capsys: pytest.CaptureFixture[str]
) -> None:
    split, served = evaluating
    token = split.open(capsys, "truth", "--roles", "all", "--seeds", "6")
    scenarios = split.scenarios("truth")
    with line_to(served.socket) as line:
        for scenario in scenarios:
            env = Env(scenario)
            dice = random.Random(1)
            first = seen = line.reset(submission=token)
            forms = {env.cause, env.cause.replace("_", " "), env.cause.replace("_", "-")}
            while not seen["done"]:
                told = changing_part(seen)
                assert not [word for word in (*forms, *TELLTALES) if word in told]
                line.state()
                line.ask("step", action="dance")
                line.ask("mcp", jsonrpc="2.0", id=1, method="tools/call", params={"name": "look"})
                line.ask("mcp", jsonrpc="2.0", id=2, method="tools/list")
                seen = line.step(**quiet_action(seen, first["rules"], dice))
            # A wrong flag costs 75 points: no number may say so, during play or after it.
            assert (seen["reward"], seen["debrief"], seen["last_turn"]) == (None, None, None)
            assert line.state()["reward"] is None
        everything = "\n".join(line.heard)
        for heard in line.heard:
            content = json.loads(heard)
            assert not (FORBIDDEN_KEYS - {"failure"}) & keys_in(content), heard
            if content["type"] == "observation":
                assert content["data"]["reward"] is None
                assert content["data"]["observation"]["last_turn"] is None
                assert content["data"]["observation"]["debrief"] is None
    check_nothing_leaks(everything, split, "truth")


def check_nothing_leaks(text: str, split: PrivateSplit, name: str) -> None:
    assert not [s.seed for s in split.scenarios(name) if str(s.seed) in text]
    assert split.secret_file.read_text().strip() not in text
    assert str(split.results) not in text
    assert split.secret.commitment not in text


@pytest.mark.parametrize("roles", ["oversight", "all"])
def test_worlds_that_look_alike_are_served_alike(
    split: PrivateSplit, capsys: pytest.CaptureFixture[str], roles: str
) -> None:
    """Exchange the hidden half of a world, leave what can be observed: not a byte may differ."""
    token = split.open(capsys, "alike", "--roles", roles, "--seeds", "1")
    env = split.environment()
    env.reset(submission=token)
    env._id = "same"
    attempt = env._attempt
    assert attempt is not None
    served = []
    world = attempt.rollout.env.world
    for seed in (3, 4, 5):
        other = Env(make_scenario(pack="arena", split="test", tier="hard", seed=seed))
        attempt.rollout.env.world = world._replace(truth=other.world.truth)
        served.append(json.dumps([env._observe(first=True).content, env.state.model_dump()]))
    assert len(set(served)) == 1


def every_route() -> list[tuple[str, str]]:
    """Every address that the open mode has, the page's and OpenEnv's among them."""
    found: list[tuple[str, str]] = []
    waiting: list[Any] = list(build_app(Settings()).routes)
    while waiting:
        route = waiting.pop()
        if inner := getattr(route, "original_router", None):  # FastAPI's included router
            waiting += inner.routes
        elif isinstance(route, WebSocketRoute):
            found.append(("WS", route.path))
        else:
            found += [(method, route.path) for method in route.methods]
    return found


def test_every_other_route_is_refused_by_name(
    evaluating: Evaluating, capsys: pytest.CaptureFixture[str]
) -> None:
    split, served = evaluating
    split.open(capsys, "routes", "--seeds", "2")
    routes = every_route()
    known = {"/tables", "/seat", "/mcp", "/reset", "/api/episode", "/api/results", "/openapi.json"}
    assert known <= {path for _, path in routes}
    said = []
    for method, pattern in routes:
        path = pattern.replace("{path:path}", "x").replace("{", "").replace("}", "")
        if method == "WS":
            if path != "/ws":
                with (
                    pytest.raises((InvalidStatus, ConnectionClosed)),
                    line_to(served.socket, path) as line,
                ):
                    line.ask("state")
            continue
        asked = {"pack": "arena", "split": "test", "tier": "hard", "seed": 1}
        body = {"json": asked} if method == "POST" else {"params": asked}
        answer = httpx.request(method, f"{served.url}{path}", **body)  # type: ignore[arg-type]
        if method == "GET" and path in ("/health", "/metadata", "/schema"):
            assert answer.status_code == 200
        else:
            assert answer.status_code == 403, (method, path)
            assert method == "HEAD" or answer.json() == {"detail": REFUSAL}
        said.append(answer.text)
    check_nothing_leaks("\n".join(said), split, "routes")
    with (
        pytest.raises((InvalidStatus, ConnectionClosed)),
        line_to(served.socket, "/ws?session_id=somebody") as line,
    ):
        line.ask("state")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "reset needs submission"),
        ({"submission": 7}, "reset needs submission"),
        ({"submission": "x"}, "this token is for no submission"),
        ({"submission": "../acme"}, "this token is for no submission"),
    ],
)
def test_without_a_token_there_is_no_episode(
    split: PrivateSplit, capsys: pytest.CaptureFixture[str], options: dict[str, Any], said: str
) -> None:
    split.open(capsys, "acme", "--seeds", "2")
    env = split.environment()
    with pytest.raises(Exception, match=said):
        env.reset(**options)
    with pytest.raises(Exception, match="send reset first"):
        env.step(ChaosOpsAction(action="noop"))


# Each episode once


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


# The numbers


@pytest.mark.parametrize("policy", ["heuristic", "last_toucher"])
def test_what_is_measured_is_what_the_policy_plays(
    evaluating: Evaluating, capsys: pytest.CaptureFixture[str], policy: str
) -> None:
    split, served = evaluating
    name = f"plays-{policy}"
    token = split.open(capsys, name, "--seeds", "5", "--tiers", "medium,hard")
    assert main(["submit", "--url", served.url, "--token", token, "--policy", policy]) == 0
    out = capsys.readouterr().out
    assert "10 played, 0 left" in out
    check_nothing_leaks(out, split, name)
    content = results_of(split, name)
    pack_hash = content["manifest"]["packs"]["arena"]["hash"]
    team = load_team(f"oversight={policy},others=heuristic")
    named = Team(team.policies, f"oversight={name},others=heuristic")
    for wire, scenario in zip(content["episodes"], split.scenarios(name), strict=True):
        assert from_record(record_of(wire, pack_hash)) == play(scenario, named)


def test_suspicion_is_of_agents_that_exist_and_told_by_oversight(
    split: PrivateSplit, capsys: pytest.CaptureFixture[str]
) -> None:
    token = split.open(capsys, "acme", "--roles", "sre,oversight", "--seeds", "1")
    env = split.environment()
    seen = env.reset(submission=token).content
    assert seen["role"] == "sre"
    agents = seen["rules"]["agents"]
    with pytest.raises(Exception, match="sent on Oversight's turns"):
        env.step(ChaosOpsAction(action="noop", suspicion={agents[0]: 0.5}))
    assert env.step(ChaosOpsAction(action="noop")).content["role"] == "oversight"
    with pytest.raises(Exception, match="'none', not an agent here"):
        env.step(ChaosOpsAction(action="noop", suspicion={"none": 0.5}))
    with pytest.raises(ValueError, match="less than or equal to 1"):
        ChaosOpsAction(action="noop", suspicion={agents[0]: 1.5})
    with pytest.raises(ValueError, match="finite"):
        ChaosOpsAction(action="noop", suspicion={agents[0]: float("nan")})
    env.step(ChaosOpsAction(reply="what?", suspicion={agents[0]: 1}))


# The owner's check


@pytest.fixture(scope="module")
def measured(evaluating: Evaluating, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a submission that was played to its end."""
    split, served = evaluating
    plan, token = planned(split, "measured", seeds=3)
    write_submission(split.results, plan)
    for _ in play_submission(served.url, token, load_policy("heuristic")):
        pass
    return split.results / "measured"


def planned(split: PrivateSplit, name: str, seeds: int) -> tuple[Submission, str]:
    token = new_token()
    digest, commitment = token_digest(token), split.secret.commitment
    roles = (Role.OVERSIGHT,)
    plan = Submission(
        name, "test", (Tier.HARD,), seeds, 0, "main", roles, "heuristic", commitment, digest
    )
    return plan, token


def verify(folder: Path, secret: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    status = main(["verify", str(folder), "--secret", str(secret)])
    return status, capsys.readouterr().out


def rewritten(folder: Path, **notes: Any) -> None:
    """Results with another manifest, and everything that needs no secret made anew."""
    manifest, lines = read_results(folder)
    pack_hash = manifest["packs"]["arena"]["hash"]
    episodes = [from_record(record_of(line, pack_hash)) for line in lines]
    (policy,) = manifest["policies"]
    results = Results({**manifest, **notes}, {policy: episodes}).sealed()
    save(results, folder)
    for name, text in derived_files(results, judged(results)).items():
        (folder / name).write_text(text)
    (folder / "episodes.jsonl").unlink()


def test_the_owner_verifies_what_was_played(
    evaluating: Evaluating, measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = evaluating.split.secret_file
    status, out = verify(measured, secret, capsys)
    assert status == 0, out
    assert (
        f"signature and seeds are those of the secret sha256:{evaluating.split.secret.commitment}"
        in out
    )
    assert main(["verify", str(measured)]) == 0, "and anybody without the secret"

    forged = Path(shutil.copytree(measured, tmp_path / "forged"))
    create_secret(tmp_path / "other")
    assert "another secret" in verify(forged, tmp_path / "other", capsys)[1]
    rewritten(forged, command="chaosops serve")
    assert main(["verify", str(forged)]) == 0, "the chain has no key"
    status, out = verify(forged, secret, capsys)
    assert (status, "results.json is not the file that was signed" in out) == (1, True)
    sign(forged, read_secret(tmp_path / "other"))
    assert "another secret" in verify(forged, secret, capsys)[1]

    plan = json.loads((measured / "results.json").read_text())["manifest"]["submission"]
    rewritten_again = Path(shutil.copytree(measured, tmp_path / "again"))
    rewritten(rewritten_again, submission={**plan, "first_seed": 1})
    sign(rewritten_again, evaluating.split.secret)
    status, out = verify(rewritten_again, secret, capsys)
    assert status == 1
    assert "is not the one that this secret draws for its public seed" in out
    (rewritten_again / "signature.json").unlink()
    assert "signature.json: is missing" in verify(rewritten_again, secret, capsys)[1]


# What the owner may not do by mistake


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["acme", "--partners", "oracle"], "oracle knows the truth and would reveal it"),
        (["acme", "--split", "classic"], "is drawn like one of train, test"),
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
