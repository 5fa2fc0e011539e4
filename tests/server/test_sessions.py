"""Sessions on a real server: apart from each other, and bounded."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from chaosops import Team, load_policy, make_scenario, play
from chaosops.core.actions import to_wire
from tests.server.conftest import Running, StartServer
from tests.server.talk import Line, line_to


def code_of(answer: dict[str, Any]) -> str:
    assert answer["type"] == "error", answer
    code: str = answer["data"]["code"]
    return code


def test_sessions_side_by_side_do_not_mix(served: Running) -> None:
    team = Team.of(load_policy("random"))

    def play_over_the_wire(seed: int) -> None:
        pack = ("classic", "arena")[seed % 2]
        named = {"split": "train"} if pack == "arena" else {"scenario": "cascade"}
        scenario = make_scenario(
            named.get("scenario", ""),
            pack=pack,
            tier="hard",
            seed=seed,
            split=named.get("split", ""),
        )
        with line_to(served.socket) as line:
            seen = line.reset(pack=pack, tier="hard", seed=seed, episode_id=f"mine-{seed}", **named)
            for turn in play(scenario, team).turns:
                assert seen["role"] == turn.role
                seen = line.step(**to_wire(turn.decision.action))
                assert seen["reward"] == turn.score.total
                assert seen["episode_id"] == f"mine-{seed}"
            assert seen["done"]

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(play_over_the_wire, range(32)))


def test_a_refused_message_leaves_the_episode_as_it_was(served: Running) -> None:
    with line_to(served.socket) as line:
        first = line.ask("step", action="noop")
        assert code_of(first) == "EXECUTION_ERROR"
        assert "no episode is running here: send reset first" in first["data"]["message"]
        line.reset(seed=1, episode_id="mine")
        for message, code, said in (
            (b"\x00\x01", "INVALID_JSON", "text frames"),
            ('{"type": "step"', "INVALID_JSON", "not JSON"),
            ('{"type": "step", "data": {"action": NaN}}', "INVALID_JSON", "not a JSON number"),
            ("[1]", "VALIDATION_ERROR", "one JSON object"),
            ('{"type": []}', "VALIDATION_ERROR", "type must be text"),
            ('{"type": "dance"}', "UNKNOWN_TYPE", "dance"),
            ('{"type": "step", "data": {"action": "dance"}}', "VALIDATION_ERROR", "action: Input"),
            ('{"type": "step", "data": {}}', "VALIDATION_ERROR", "either 'action'"),
            ('{"type": "step", "data": {"action": "restart"}}', "EXECUTION_ERROR", "needs target"),
            ('{"type": "reset", "data": {"seed": "x"}}', "EXECUTION_ERROR", "seed: Input should"),
            ("x" * 70_000, "MESSAGE_TOO_LARGE", "65536 characters"),
        ):
            answer = line.say(message)
            assert code_of(answer) == code, answer
            assert said in answer["data"]["message"]
        state = line.state()
        assert (state["episode_id"], state["step_count"]) == ("mine", 0)
        assert line.step(action="noop")["reward"] == -2.0


def test_a_full_server_says_so_and_recovers(start_server: StartServer) -> None:
    served = start_server("--max-sessions", "2")
    with ExitStack() as stack:
        lines = [stack.enter_context(line_to(served.socket)) for _ in range(2)]
        for line in lines:
            line.reset(seed=1)
        with line_to(served.socket) as third:
            answer = third.hear()
            assert code_of(answer) == "CAPACITY_REACHED"
            assert answer["data"]["max_sessions"] == 2
            with pytest.raises(ConnectionClosed):
                third.hear()
        for line in lines:
            line.step(action="noop")
    with line_to(served.socket) as line:
        assert line.reset(seed=1)["step"] == 0


def test_silence_closes_a_session_with_a_word(start_server: StartServer) -> None:
    served = start_server("--idle-timeout", "2", "--max-sessions", "1")
    with line_to(served.socket) as line:
        line.reset(seed=1)
        start = time.monotonic()
        # Asking how it stands is not a play, and nonsense is none either.
        assert line.state()["status"] == "running"
        line.say("nonsense")
        answer = line.hear()
        assert code_of(answer) == "IDLE_TIMEOUT"
        assert "nothing was played for 2 s" in answer["data"]["message"]
        assert 0.5 < time.monotonic() - start < 20
        with pytest.raises(ConnectionClosed) as closed:
            line.hear()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1001
    # Its place is free again.
    with line_to(served.socket) as line:
        for _ in range(4):  # longer than the time-out, but never silent for so long
            line.reset(seed=1)
            time.sleep(0.6)


def test_one_session_may_play_many_episodes(served: Running) -> None:
    with line_to(served.socket) as line:
        for seed in range(20):
            seen = line.reset(seed=seed, max_steps=3)
            while not seen["done"]:
                seen = line.step(action="noop")
            assert seen["truncated"]
            assert code_of(line.ask("step", action="noop")) == "EXECUTION_ERROR"


def test_the_server_is_ready_within_ten_seconds() -> None:
    """Of processor time, because this machine may be busy. It is started as from a shell."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "chaosops", "serve", "--port", "0", "--no-web"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        with line_to(f"ws{url.removeprefix('http')}") as line:
            line.reset(seed=1)
        process.terminate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 10


def test_the_answer_is_small_enough_to_be_sent_often(served: Running) -> None:
    with line_to(served.socket) as line:
        line.reset(pack="arena", split="ood_scale", tier="hard", seed=1)
        for _ in range(16):
            line.step(action="noop")
        assert max(map(len, line.heard)) < 50_000
        assert json.loads(line.heard[-1])["type"] == "observation"


def test_a_cut_wire_frees_the_session(start_server: StartServer) -> None:
    served = start_server("--max-sessions", "4")
    for _ in range(30):
        with ExitStack() as stack:
            lines: list[Line] = [stack.enter_context(line_to(served.socket)) for _ in range(4)]
            for line in lines:
                line.reset(seed=1)
                line.step(action="noop")
                line.socket.socket.close()  # no farewell
        time.sleep(0.05)
