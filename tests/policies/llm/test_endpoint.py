"""The endpoint policy against a real server on loopback that misbehaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from chaosops.core.actions import Unreadable
from chaosops.core.errors import BadInput, MissingExtra, UnknownName
from chaosops.packs import make_scenario
from chaosops.policies.llm.endpoint import EndpointPolicy
from chaosops.policies.llm.http_chat import EndpointDown, EndpointRefused
from chaosops.policies.llm.spec import read_spec
from chaosops.rollout import Team, play_many
from chaosops.wire.episodes import episode_to_wire
from tests.policies.llm.asking import decide, policy_at, requests_for
from tests.policies.llm.faulty_server import (
    Behaviour,
    Body,
    FaultyServer,
    Handler,
    answer,
    cut,
    faulty_server,
    raw,
    slam,
    status,
    trickle,
    trickle_headers,
)

KEY = "sk-very-secret-4711"
OUTAGE_S = float(os.environ.get("CHAOSOPS_OUTAGE_SECONDS", "3"))


def in_an_hour() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)


# Decisions do not depend on faults


@pytest.mark.parametrize(
    "faults",
    [
        [status(429, Retry_After="0.1")],
        [status(500), status(502), status(503)],
        [status(408), status(409)],
        [cut],
        [slam, slam],
        [raw(b"{broken")],
        [raw(b"")],
        [raw(b'{"choices": []}')],
        [raw(b'{"error": {"message": "overloaded"}}')],
        [raw(b"[1, 2]")],
        [raw(b'{"choices": [{"message": {"content": 7}}]}')],
    ],
    ids=lambda faults: "",
)
def test_a_fault_changes_nothing_but_the_counters(
    server: FaultyServer, faults: list[Behaviour]
) -> None:
    requests = requests_for(5)
    calm = policy_at(server)
    expected = calm.decide(requests)
    assert len(server.seen) == len(requests)
    server.script = list(faults)
    troubled = policy_at(server)
    assert troubled.decide(requests) == expected
    assert troubled.status() == calm.status()
    assert len(server.seen) == 2 * len(requests) + len(faults)


@pytest.mark.parametrize("slow", [trickle, trickle_headers])
def test_an_answer_that_trickles_meets_the_deadline(server: FaultyServer, slow: Behaviour) -> None:
    server.script = [slow]
    policy = policy_at(server, "+timeout=0.6+patience=20")
    start = time.monotonic()
    assert not isinstance(decide(policy).action, Unreadable)
    assert 0.6 < time.monotonic() - start < 20
    assert len(server.seen) >= 2  # on a busy machine a good answer may come too late as well


def test_an_outage_in_the_middle_of_an_evaluation_changes_no_episode(
    server: FaultyServer, capsys: pytest.CaptureFixture[str]
) -> None:
    scenarios = [make_scenario("db_deadlock", seed=seed, limit=8) for seed in range(6)]

    def played(policy: EndpointPolicy) -> list[str]:
        episodes = play_many(scenarios, Team.of(policy))
        return [json.dumps(episode_to_wire(episode)) for episode in episodes]

    options = f"+timeout=5+patience={OUTAGE_S * 3 + 20:g}"
    calm = policy_at(server, options)
    expected = played(calm)
    assert capsys.readouterr().err == ""

    half, is_down = len(server.seen) * 3 // 2, threading.Event()

    def wait_from_half_on(handler: Handler, body: Body) -> None:
        """However busy the machine is, the evaluation does not end before the outage."""
        if len(server.seen) >= half:
            is_down.wait()
        answer(handler, body)

    def fail_at_half() -> None:
        while len(server.seen) < half:
            time.sleep(0.001)
        back = server.down_for(OUTAGE_S)
        is_down.set()
        back.join()

    server.always = wait_from_half_on

    outage = threading.Thread(target=fail_at_half)
    outage.start()
    troubled = policy_at(server, options)
    assert played(troubled) == expected
    outage.join()
    assert troubled.status() == calm.status()
    begins, ends = capsys.readouterr().err.splitlines()
    assert begins.startswith(f"endpoint {server.url} does not answer (")
    assert "waiting, up to" in begins
    assert ends.startswith(f"endpoint {server.url} answers again after")


def test_many_seats_are_asked_at_once_and_answered_in_order(server: FaultyServer) -> None:
    requests = requests_for(24)
    alone = [policy_at(server).decide([request])[0] for request in requests]
    busy = most = 0
    lock = threading.Lock()
    reply = server.always

    def slowly(handler: Any, body: dict[str, Any]) -> None:
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        time.sleep(0.05 if body["seed"] % 2 else 0.1)
        with lock:
            busy -= 1
        reply(handler, body)

    server.always = slowly
    assert policy_at(server, "+concurrency=4").decide(requests) == alone
    assert most == 4
    assert policy_at(server).decide([]) == []


# Waiting


@pytest.mark.parametrize("retry_after", ["1", "date"])
def test_retry_after_is_honoured(server: FaultyServer, retry_after: str) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    server.script = [status(429, Retry_After=soon if retry_after == "date" else "1")]
    decide(policy_at(server))
    waited = server.times[1] - server.times[0]
    assert 0.9 < waited < 15


@pytest.mark.parametrize(
    "hint",
    ["3600", pytest.param(in_an_hour(), id="a date"), "-5", "soon", "nan", "inf"],
)
def test_patience_ends_whatever_the_server_asks_for(server: FaultyServer, hint: str) -> None:
    server.always = status(503, "loading", Retry_After=hint)
    start = time.monotonic()
    with pytest.raises(EndpointDown) as caught:
        decide(policy_at(server, "+timeout=2+patience=0.7"))
    assert 0.6 < time.monotonic() - start < 15
    text = str(caught.value)
    assert f"POST {server.url}/chat/completions failed" in text
    assert "HTTP 503 loading" in text
    assert "run it again (chaosops eval: with --resume)" in text


def test_an_endpoint_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    with faulty_server() as server:
        policy = policy_at(server, "+patience=1.5")
    with pytest.raises(EndpointDown, match="Connection refused"):
        policy.decide(requests_for(4))
    assert capsys.readouterr().err.count("does not answer (Connection refused)") == 1


def test_ctrl_c_ends_the_waiting(server: FaultyServer) -> None:
    server.always = trickle
    code = (
        # Whoever runs the tests in the background hands down that SIGINT is ignored.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from chaosops.rollout import Team, play\n"
        "from chaosops.packs import make_scenario\n"
        "from chaosops.policies.llm.endpoint import EndpointPolicy\n"
        "from chaosops.policies.llm.spec import read_spec\n"
        f"policy = EndpointPolicy(read_spec('openai:fake@{server.url}'))\n"
        "play(make_scenario('db_deadlock'), Team.of(policy))\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    while not server.seen:
        time.sleep(0.02)
    time.sleep(0.2)
    start = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert time.monotonic() - start < 15  # the answer would trickle for 30 s
    assert "KeyboardInterrupt" in err


# Errors that waiting does not cure


def refusal_of(policy: EndpointPolicy) -> str:
    with pytest.raises(EndpointRefused) as caught:
        decide(policy)
    return str(caught.value)


@pytest.mark.parametrize("code", [401, 403])
def test_a_wrong_key_is_told_at_once(server: FaultyServer, code: int) -> None:
    server.always = status(code, "bad key")
    text = refusal_of(policy_at(server))
    assert "no key was sent" in text
    assert "CHAOSOPS_API_KEY or OPENAI_API_KEY" in text
    assert len(server.seen) == 1


def test_a_wrong_model_or_url_names_both(server: FaultyServer) -> None:
    server.always = status(404, "model not found")
    text = refusal_of(policy_at(server))
    assert "'fake'" in text
    assert server.url in text
    assert len(server.seen) == 1


def test_a_prompt_that_is_too_long_shows_the_servers_words(server: FaultyServer) -> None:
    for code in (400, 413):
        server.always = status(code, "context length exceeded " + "x" * 5000)
        text = refusal_of(policy_at(server))
        assert f"answered {code}: context length exceeded" in text
        assert len(text) < 500


def test_a_redirect_is_not_followed(server: FaultyServer) -> None:
    server.always = status(307, "moved", Location="http://127.0.0.1:9/v1")
    assert "it points to http://127.0.0.1:9/v1" in refusal_of(policy_at(server))


def test_an_empty_purse_is_not_waited_for(server: FaultyServer) -> None:
    error = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    server.always = raw(json.dumps(error).encode(), 429)
    assert "insufficient_quota" in refusal_of(policy_at(server))


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("openai:m@http://127.0.0.1:1/v1+price=cheap", "price=cheap"),
        ("openai:m@http://127.0.0.1:1/v1+price=1/-2", "price=1/-2"),
        ("openai:m@http://127.0.0.1:1/v1+timeout=0", "timeout=0"),
        ("openai:m@http://127.0.0.1:1/v1+concurrency=0", "concurrency=0"),
        ("openai:m@http://127.0.0.1:1/v1+adapter=x", "an endpoint has no option adapter"),
        ("openai:m@http://", "no usable host"),
        ("openai:m@http://127.0.0.1:port/v1", "no usable host"),
        ("openai:m@http://[::1/v1", "no usable host"),
    ],
)
def test_a_spec_that_cannot_be_used(spec: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        EndpointPolicy(read_spec(spec))


def test_an_unknown_format() -> None:
    with pytest.raises(UnknownName, match="format 'xml'"):
        EndpointPolicy(read_spec("openai:m@http://127.0.0.1:1/v1+format=xml"))


def test_without_httpx_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[endpoints\]'"):
        EndpointPolicy(read_spec("openai:m@http://127.0.0.1:1/v1"))


# Secrets
