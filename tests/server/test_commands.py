from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import httpx
import pytest

from tests.conftest import Outcome
from tests.server.conftest import Running

LOCAL = "http://localhost"
Cli = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["serve", "--port", "99999"], "whole number from 0 to 65535"),
        (["serve", "--port", "-1"], "whole number from 0"),
        (["serve", "--host", "203.0.113.7", "--port", "0"], "choose another --host or --port"),
        (["serve", "--max-sessions", "0"], "whole number from 1"),
        (["serve", "--idle-timeout", "0"], "more than 0 seconds"),
        (["table"], "required: --url"),
        (["table", "--url", "http://127.0.0.1:9"], "cannot reach a ChaosOps server"),
        (["table", "--url", "nowhere"], "cannot reach a ChaosOps server at nowhere"),
        (["seat", "--url", "http://127.0.0.1:9"], "required: --token"),
        (["seat", "--url", "http://127.0.0.1:9", "--token", "x"], "cannot reach a ChaosOps"),
        (["seat", "--url", "127.0.0.1:9", "--token", "x"], "is not a server's address"),
        (["seat", "--url", "http://x", "--token", "x", "--policy", "orcale"], "did you mean"),
        (["seat", "--url", "http://x", "--token", "x", "--policy", "oracle"], "needs the truth"),
        (["seat", "--url", "http://x", "--token", "x", "--received", "/"], "it is a folder"),
        (["table", "--url", "http://x", "--server-token-file", "/dev/zero"], "not a plain file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_clear_line_and_code_2(cli: Cli, words: list[str], said: str) -> None:
    assert said in cli(*words).refusal


def in_shell(line: str) -> Outcome:
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60)
    return Outcome(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_mistake(closed: str) -> None:
    code, out, err = in_shell(f"exec {sys.executable} -m chaosops list {closed}")
    assert (code, err) == (0, "")
    assert bool(out) == (">&-" not in closed.replace("2>&-", ""))


def test_a_server_serves_without_streams() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = f"exec {sys.executable} -m chaosops serve --no-web --port {port} <&- >&- 2>&-"
    process = subprocess.Popen(words, shell=True)
    try:
        for _ in range(900):
            with suppress(httpx.TransportError):
                assert httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200
                break
            assert process.poll() is None
            time.sleep(0.1)
        else:
            pytest.fail("it does not serve")
    finally:
        process.terminate()
        process.wait(timeout=20)


def test_a_server_with_too_few_files_does_not_start() -> None:
    serve = f"exec {sys.executable} -m chaosops serve --no-web --port 0"
    said = in_shell(f"ulimit -n 64; {serve}").refusal
    assert "may open 64 files" in said
    assert "ulimit -n 1216" in said


def test_an_open_server_takes_no_submission(cli: Cli, served: Running) -> None:
    outcome = cli("submit", "--url", served.url, "--token", "x", "--policy", "heuristic")
    assert "this server is not in evaluation mode" in outcome.refusal


def test_a_port_that_is_taken_is_named(cli: Cli) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        code, _, err = cli("serve", "--port", port, "--no-web")
    assert code == 2
    assert f"cannot listen on 127.0.0.1 port {port}: Address already in use" in err


def test_a_table_prints_its_tokens(cli: Cli, served: Running) -> None:
    code, out, err = cli("table", "--url", served.url, "--tier", "hard", "--seed", "42")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("table ")
    assert [line.split()[0] for line in lines[1:5]] == ["sre", "oversight", "dev", "manager"]
    assert len({line.split()[1] for line in lines[1:5]}) == 4
    assert "did you mean 'test'" in cli("table", "--url", served.url, "--split", "tset").refusal


def test_the_page_is_there_unless_it_is_left_out() -> None:
    from starlette.testclient import TestClient

    from chaosops.server.app import Settings, build_app

    with TestClient(build_app(Settings(web=True)), LOCAL) as client:
        assert client.get("/").headers["content-type"].startswith("text/html")
        assert client.get("/health").json() == {"status": "healthy"}
    with TestClient(build_app(Settings(web=False)), LOCAL) as client:
        assert client.get("/").status_code == 404
