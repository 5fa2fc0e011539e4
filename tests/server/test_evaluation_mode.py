"""Evaluation mode tells a player neither the truth nor the seeds."""

from __future__ import annotations

import json
import random
from typing import Any

import httpx
import pytest
from starlette.routing import WebSocketRoute
from websockets.exceptions import ConnectionClosed, InvalidStatus

from chaosops import Env, make_scenario
from chaosops.core.vocabulary import Role
from chaosops.server.app import Settings, build_app
from chaosops.server.evaluation_mode import REFUSAL
from chaosops.wire.openenv import ChaosOpsAction
from tests.server.conftest import Evaluating, Running
from tests.server.evaluating import (
    PrivateSplit,
    check_nothing_leaks,
    play_out,
)
from tests.server.tables import open_table, sit
from tests.server.talk import Line, line_to
from tests.server.test_truth import FORBIDDEN_KEYS, TELLTALES, changing_part, keys_in, quiet_action

CANDIDATES = 200


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
                told = changing_part(seen, first["rules"]["runbook"])
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
