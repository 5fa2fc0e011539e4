"""Nonsense at the door: each message gets an answer, and every session goes on."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tests.server.conftest import Running, StartServer
from tests.server.talk import Line, line_to

# 10,000 take minutes on a small machine: CHAOSOPS_TEST_SIZE=full sends them all.
MESSAGES = 10_000 if os.environ.get("CHAOSOPS_TEST_SIZE") == "full" else 700

STEP = '{"type": "step", "data": {"action": "noop"}}'
VALUES: list[Any] = [
    None, True, 0, -1, 1.5, 1e308, 2**63, 10**300,
    "", "db", "\x00", "é" * 500, [], [[]], {}, {"a": {}},
]  # fmt: skip
FIELDS = ["action", "target", "replicas", "message", "to", "confidence", "metadata", "x"]
OPTIONS = ["pack", "scenario", "tier", "split", "seed", "max_steps", "format", "index", "self", "x"]
TYPES: list[Any] = ["step", "state", "mcp", "", "Step", "sit", "act", None, 3, [], {}]


def random_bytes(dice: random.Random) -> str | bytes:
    data = dice.randbytes(dice.randrange(200))
    return data if dice.random() < 0.5 else data.decode("latin-1")


def truncated(dice: random.Random) -> str:
    return STEP[: dice.randrange(len(STEP))]


def wrong_types(dice: random.Random) -> str:
    return json.dumps({"type": dice.choice(TYPES), "data": dice.choice(VALUES)})


def wrong_fields(dice: random.Random) -> str:
    names = dice.sample(FIELDS, dice.randrange(1, 4))
    return json.dumps({"type": "step", "data": {name: dice.choice(VALUES) for name in names}})


def wrong_options(dice: random.Random) -> str:
    names = dice.sample(OPTIONS, dice.randrange(1, 4))
    bad = {name: dice.choice(VALUES[1:]) for name in names}
    return json.dumps({"type": "reset", "data": {"tire": "hard", **bad}})


def wrong_rpc(dice: random.Random) -> str:
    data = {"jsonrpc": "2.0", "id": dice.choice(VALUES), "method": "tools/call"}
    data["params"] = {"name": dice.choice(VALUES), "arguments": dice.choice(VALUES)}
    return json.dumps({"type": "mcp", "data": data})


def deep(dice: random.Random) -> str:
    depth = dice.choice([40, 400, 4_000])
    inner = dice.choice(["[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth])
    return f'{{"type": "step", "data": {{"action": {inner}}}}}'


def no_numbers(dice: random.Random) -> str:
    number = dice.choice(["NaN", "Infinity", "-Infinity", "9" * 5_000, "1e99999", "-0.0"])
    return f'{{"type": "step", "data": {{"action": "scale", "replicas": {number}}}}}'


def half_characters(dice: random.Random) -> str:
    place = dice.choice(['"type": "\\ud800"', '"type": "step", "data": {"reply\\udc00": 1}'])
    return f"{{{place}}}"


def huge(dice: random.Random) -> str:
    return json.dumps(
        {"type": "step", "data": {"reply": "x" * dice.choice([9_000, 70_000, 600_000])}}
    )


def not_an_object(dice: random.Random) -> str:
    return json.dumps(dice.choice([None, 1, "reset", [], [STEP], True]))


KINDS: list[Callable[[random.Random], str | bytes]] = [
    random_bytes, truncated, wrong_types, wrong_fields, wrong_options, wrong_rpc,
    deep, no_numbers, half_characters, huge, not_an_object,
]  # fmt: skip


def episode_goes_on(line: Line, step: int) -> None:
    seen = line.step(action="noop")
    assert (seen["step"], seen["reward"]) == (step, -2.0 * step)


def test_no_message_breaks_a_session_or_its_neighbour(served: Running) -> None:
    dice = random.Random(7)
    with line_to(served.socket) as victim, line_to(served.socket) as neighbour:
        for line in (victim, neighbour):
            line.reset(pack="arena", tier="hard", seed=3, max_steps=200)
        steps = 0
        for number in range(MESSAGES):
            kind = dice.choice(KINDS)
            message = kind(dice)
            answer = victim.say(message)
            # A well-formed state or mcp message among the nonsense is answered as such.
            assert answer["type"] in ("error", "state", "mcp"), (message, answer)
            told = json.dumps(answer)
            assert "Traceback" not in told
            assert len(told) < 5_000, message
            if answer["type"] == "error":
                assert answer["data"]["message"]
            if number % (MESSAGES // 20) == 0:
                steps += 1
                episode_goes_on(victim, steps)
                episode_goes_on(neighbour, steps)


@pytest.mark.parametrize("path", ["/mcp", "/seat"])
def test_the_other_doors_answer_nonsense_too(served: Running, path: str) -> None:
    dice = random.Random(11)
    with line_to(served.socket, path) as line:
        for _ in range(MESSAGES // 10):
            answer = line.say(dice.choice(KINDS)(dice))
            told = answer.get("error") or answer["data"]
            assert told["message"], answer


def test_a_flood_delays_nobody_for_long(served: Running) -> None:
    with line_to(served.socket) as flood, line_to(served.socket) as neighbour:
        neighbour.reset(seed=1, max_steps=50)
        for _ in range(MESSAGES // 2):
            flood.socket.send('{"type": "nonsense"}')
        episode_goes_on(neighbour, 1)
        answers = [flood.hear() for _ in range(MESSAGES // 2)]
        assert {answer["data"]["code"] for answer in answers} == {"UNKNOWN_TYPE"}


def test_a_frame_beyond_all_measure_closes_its_own_connection(start_server: StartServer) -> None:
    served = start_server()
    with line_to(served.socket) as giant, line_to(served.socket) as neighbour:
        neighbour.reset(seed=1)
        giant.reset(seed=1)
        with pytest.raises(ConnectionClosed) as closed:
            giant.say("x" * 2_000_000)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
        episode_goes_on(neighbour, 1)
