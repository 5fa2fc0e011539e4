"""Tables: four seats, one episode, and none is shown what belongs to another."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from chaosops import Env, Team, load_policy, make_scenario, play
from chaosops.client.seat import SeatConnection
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.roles.view import project
from chaosops.wire.views import view_to_wire
from tests.server.conftest import Running
from tests.server.tables import open_table, play_all, sit, table_state
from tests.server.talk import line_to
from tests.server.test_clients import defined_by, examples


def chaosops(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "chaosops", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


SCENARIOS = [
    make_scenario("rogue_deploy_bot", tier="hard", seed=42),
    make_scenario(pack="arena", split="test", tier="hard", seed=3),
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.pack)
def test_four_processes_play_one_episode_and_see_only_their_own(
    served: Running, tmp_path: Path, scenario: Scenario
) -> None:
    named = ["--split", scenario.split] if scenario.split else ["--scenario", scenario.failure]
    words = ["table", "--url", served.url, "--json", "--seed", str(scenario.seed), *named]
    opened = json.loads(chaosops(*words).communicate(timeout=60)[0])
    players = {
        role: chaosops(
            "seat", "--url", served.url, "--token", opened["tokens"][role],
            "--received", str(tmp_path / role),
        )
        for role in Role
    }  # fmt: skip
    said = {role: player.communicate(timeout=60) for role, player in players.items()}
    episode = play(scenario, Team.of(load_policy("heuristic")))
    for role, (out, err) in said.items():
        assert players[role].returncode == 0, err
        assert f"seated as {role}" in out
        assert f"after {episode.steps} steps, reward {episode.reward:+.1f}" in out
    for role in Role:
        received = (tmp_path / role).read_text(encoding="utf-8")
        check_received(role, received, scenario)
        seen_by_others = set().union(
            *(secrets_of(scenario, r, role) for r in Role if r is not role)
        )
        assert seen_by_others
        assert not [text for text in seen_by_others if text in received]


def check_received(role: Role, received: str, scenario: Scenario) -> None:
    """Every turn holds the view that this role has at its step, and nothing came besides."""
    env = Env(scenario)
    views = {}
    for turn in play(scenario, Team.of(load_policy("heuristic"))).turns:
        views[env.world.public.step] = view_to_wire(project(env.world.public, env.role))
        env.play(turn.decision)
    messages = [json.loads(line) for line in received.splitlines()]
    kinds = [message["type"] for message in messages]
    assert kinds[0] == "seated"
    assert kinds[1:-1] == ["turn", "acted"] * ((len(kinds) - 2) // 2)
    assert kinds[-1] == "over"
    for message in messages:
        if message["type"] == "turn":
            data = message["data"]
            assert data.keys() == {"step", "limit", "role", "view", "messages", "action_schema"}
            assert data["view"]["role"] == data["role"] == role
            assert data["view"] == json.loads(json.dumps(views[data["step"]]))
    before_the_end = "".join(received.splitlines()[:-1])
    assert '"seed"' not in before_the_end
    assert '"reward"' not in before_the_end
    assert '"rogue"' not in before_the_end


def names_of(told: dict[str, Any]) -> set[str]:
    named = ("services", "agents", "limits_pct", "calls", "runbook", "charter")
    return {name for name in named if told.get(name)}


@pytest.mark.parametrize(
    ("role", "known"),
    [
        ("sre", {"services", "calls", "runbook"}),
        ("oversight", {"services", "calls", "agents", "runbook", "charter"}),
        ("dev", {"services", "calls", "runbook"}),
        ("manager", {"runbook"}),
    ],
)
def test_a_seat_is_told_the_rules_of_what_its_role_sees(
    served: Running, role: str, known: set[str]
) -> None:
    opened = open_table(served, pack="arena", split="test", tier="hard", seed=3)
    rules = Env(SCENARIOS[1]).world.public.rules
    with line_to(served.socket, "/seat") as line:
        told = sit(line, opened["tokens"][role])["data"]["rules"]
        received = "".join(line.heard)
    assert names_of(told) == known
    assert (told["calls"] is None) == ("calls" not in known), "null: there is one, but not for you"
    if "agents" not in known:
        assert not [agent for agent in rules.agents if agent in received]
    opened = open_table(served, pack="classic", seed=3)
    with line_to(served.socket, "/seat") as line:
        told = sit(line, opened["tokens"][role])["data"]["rules"]
    assert names_of(told) == {"services"} | ({"agents"} if role == "oversight" else set())
    assert told["calls"] == {}


def secrets_of(scenario: Scenario, other: Role, reader: Role) -> set[str]:
    """Texts that another role is shown on its turns, and this role never on its own."""
    env = Env(scenario)
    theirs, mine = set[str](), ""
    for turn in play(scenario, Team.of(load_policy("heuristic"))).turns:
        wire = view_to_wire(project(env.world.public, env.role))
        if env.role is reader:
            mine += json.dumps(wire)
        if env.role is not other:
            env.play(turn.decision)
            continue
        theirs |= {
            json.dumps(entry) for name in ("logs", "trace", "metrics") for entry in wire[name]
        }
        theirs |= {json.dumps(alert["text"]) for alert in wire["alerts"] if alert["text"]}
        theirs |= {json.dumps(entry["reason"]) for entry in wire["trace"]}
        env.play(turn.decision)
    return {text for text in theirs if text not in mine}


def test_any_policy_can_sit_and_the_owner_can_watch(served: Running) -> None:
    opened = open_table(served, pack="arena", tier="medium", seed=5)
    assert table_state(served, opened["table"])["status"] == "waiting"
    outcomes = play_all(served, opened["tokens"], "random")
    assert len({json.dumps(outcome) for outcome in outcomes}) == 1
    state = table_state(served, opened["table"])
    assert state["status"] == "over"
    assert state["debrief"] == outcomes[0].debrief
    assert state["debrief"]["seed"] == 5


def test_the_seat_of_the_page_plays_too(served: Running) -> None:
    play_page_seat = defined_by(examples(served.url)[4])["play_seat"]
    opened = open_table(served, seed=1, max_steps=6)
    with ThreadPoolExecutor(4) as threads:
        outcomes = list(
            threads.map(lambda token: play_page_seat(served.url, token), opened["tokens"].values())
        )
    assert {outcome.status for outcome in outcomes} == {"over"}


def test_a_seat_that_floods_is_answered_and_holds_up_nobody(served: Running) -> None:
    opened = open_table(served, seed=1, max_steps=4)
    with line_to(served.socket, "/seat") as flood:
        assert sit(flood, opened["tokens"]["sre"])["type"] == "seated"
        for _ in range(2_000):
            flood.socket.send('{"type": "act", "data": {"action": "dance"}}')
        others = {role: token for role, token in opened["tokens"].items() if role != "sre"}
        with ThreadPoolExecutor(3) as threads:
            playing = [
                threads.submit(play_all, served, {r: t}, "random") for r, t in others.items()
            ]
            heard = [flood.hear() for _ in range(2_001)]
            assert [message["type"] for message in heard].count("turn") == 1
            assert flood.ask("act", action="noop")["type"] == "acted"
            assert {future.result()[0].status for future in playing} == {"over"}


def test_a_wrong_token_is_turned_away(served: Running) -> None:
    with pytest.raises(BadInput, match="this token is for no seat"):
        SeatConnection(served.url, "0" * 32)
    with line_to(served.socket, "/seat") as line:
        assert "first say who you are" in line.ask("act", action="noop")["data"]["message"]
        assert sit(line, "nobody")["data"]["code"] == "NO_SUCH_SEAT"
        with pytest.raises(ConnectionClosed):
            line.hear()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tier": "brutal"}, "unknown tier 'brutal'"),
        ({"tire": "hard"}, "tire: Extra inputs are not permitted"),
        ({"turn_timeout_s": -1}, "turn_timeout_s: Input should be greater than 0"),
        ({"seed": "x"}, "seed: Input should be a valid integer"),
    ],
)
def test_a_table_that_cannot_be_opened_says_why(
    served: Running, options: dict[str, Any], said: str
) -> None:
    answer = httpx.post(f"{served.url}/tables", json=options)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]
