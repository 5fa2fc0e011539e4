"""Connections that say nothing, say it slowly, do not listen, or are too many."""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
import uvicorn
from websockets.exceptions import ConnectionClosed

from chaosops.server.connections import Connections, guarded_protocols
from tests.server.conftest import Running, StartServer, logging_server
from tests.server.talk import line_to, until

FILES = 1024
SLOW = [
    b"",
    b"GET /health HTTP/1.1\r\nX-Slow: ",
    b"POST /tables HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 5000\r\n\r\n",
    b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health HTTP/1.1\r\nX-Slow: ",
]


def dial(served: Running) -> socket.socket:
    host, _, port = served.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=20)


def is_healthy(served: Running) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"{served.url}/health", timeout=20).status_code == 200
    return False


@contextmanager
def server_with_few_files(log: Path, *options: str) -> Iterator[Running]:
    with log.open("w") as errors, logging_server(errors, *options, files=FILES) as running:
        yield running


@pytest.mark.parametrize("start", SLOW, ids=["silence", "headers", "body", "second request"])
def test_a_slow_request_is_ended(start_server: StartServer, start: bytes) -> None:
    served = start_server("--request-timeout", "1")
    with line_to(served.socket) as line, ExitStack() as stack:
        line.reset(seed=1)
        heard, began = b"", time.monotonic()
        slow = stack.enter_context(dial(served))
        slow.sendall(start)
        while time.monotonic() - began < 30:
            slow.settimeout(0.2)
            try:
                if start:
                    slow.sendall(b"x")
                got = slow.recv(65_536)
            except TimeoutError:
                continue
            except OSError:
                break
            heard += got
            if not got:
                break
        assert 0.8 < time.monotonic() - began < 20
        assert b"HTTP/1.1 408" in heard
        assert b"no whole request came within 1 s" in heard
        # A session may be silent for as long: it is not a request.
        assert line.step(action="noop")["step"] == 1


def test_1100_half_open_connections_keep_nobody_out(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with server_with_few_files(log) as served, line_to(served.socket) as line, ExitStack() as stack:
        line.reset(seed=1)
        for _ in range(1_100):
            stack.enter_context(dial(served))
        for _ in range(10):
            line.step(action="noop")
        began = time.monotonic()
        assert httpx.get(f"{served.url}/health", timeout=20).status_code == 200
        with line_to(served.socket) as newcomer:
            assert newcomer.reset(seed=2)["step"] == 0
        assert time.monotonic() - began < 30
        files = len(os.listdir(f"/proc/{served.process.pid}/fd"))
        assert files < FILES - 100, "there is a reserve"
    said = log.read_text()
    assert len(said) < 10_000
    assert "Traceback" not in said


def test_a_server_without_files_says_so_once_a_second_and_recovers(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with server_with_few_files(log) as served, line_to(served.socket) as line, ExitStack() as stack:
        line.reset(seed=1)
        used = [int(name) for name in os.listdir(f"/proc/{served.process.pid}/fd")]
        resource.prlimit(served.process.pid, resource.RLIMIT_NOFILE, (max(used) + 4, FILES))
        began = time.monotonic()
        for _ in range(60):
            stack.enter_context(dial(served))
        time.sleep(2.2)
        line.step(action="noop")
        assert httpx.get(f"{served.url}/health", timeout=20).status_code == 200
    seconds = time.monotonic() - began
    said = [words for words in log.read_text().splitlines() if "cannot be accepted" in words]
    assert 1 <= len(said) <= seconds + 2
    assert "Too many open files" in said[0]
    assert "Traceback" not in log.read_text()


def test_the_oldest_silent_connection_makes_room(start_server: StartServer) -> None:
    served = start_server("--max-connections-per-client", "8")
    with line_to(served.socket) as line, ExitStack() as stack:
        line.reset(seed=1)
        silent = [stack.enter_context(dial(served)) for _ in range(7)]
        time.sleep(0.3)
        for _ in range(3):
            assert httpx.get(f"{served.url}/health", timeout=20).status_code == 200
        silent[0].settimeout(20)
        with suppress(ConnectionResetError):
            assert silent[0].recv(1) == b"", "closed"
        silent[-1].sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert silent[-1].recv(100).startswith(b"HTTP/1.1 200")
        assert line.step(action="noop")["step"] == 1, "who plays is never closed"


def test_who_has_only_working_connections_gets_no_more(start_server: StartServer) -> None:
    served = start_server("--max-connections-per-client", "2")
    with line_to(served.socket) as first, line_to(served.socket) as second:
        first.reset(seed=1)
        second.reset(seed=1)
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{served.url}/health")
        assert first.step(action="noop")["step"] == 1
    until(lambda: is_healthy(served))  # the server hears a little later that they are gone


def test_nonsense_fills_no_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with server_with_few_files(log) as served:
        for _ in range(100):
            with dial(served) as line:
                line.sendall(b"\x00\x01\r\n\r\n")
                answer = line.recv(10_000)
                assert answer.startswith(b"HTTP/1.1 400")
                assert b"content-security-policy: default-src 'none'" in answer
    said = log.read_text()
    assert 1 <= said.count("Invalid HTTP request") < 10


def test_text_that_is_no_utf_8_is_logged_without_a_traceback(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with server_with_few_files(log) as served, line_to(served.socket) as line:
        line.socket.send(b"\xff\xfe", text=True)
        with pytest.raises(ConnectionClosed) as ended:
            line.hear()
        assert ended.value.rcvd is not None
        assert ended.value.rcvd.code == 1007
    assert "Invalid UTF-8" in log.read_text()
    assert "Traceback" not in log.read_text()


def test_who_asks_too_fast_waits(start_server: StartServer) -> None:
    served = start_server("--max-requests-per-client", "20")
    began = time.monotonic()

    def ask(_: int) -> list[int]:
        with httpx.Client(base_url=served.url, timeout=60) as client:
            return [client.get("/health").status_code for _ in range(6)]

    with line_to(served.socket) as line, ThreadPoolExecutor(16) as threads:
        asked = threads.map(ask, range(16))
        line.reset(seed=1)
        answers = [status for told in asked for status in told]
    assert answers == [200] * 96
    # Two seconds' worth at once, then 20 a second.
    assert 2.5 < time.monotonic() - began < 60


async def long_answer(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(1_000):
        await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})


def test_who_does_not_read_is_let_go() -> None:
    connections = Connections(8, 8)
    http, ws = guarded_protocols(connections, 5.0, write_timeout_s=1.5)
    config = uvicorn.Config(long_answer, http=http, ws=ws, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            with socket.create_connection(listener.getsockname()) as deaf:
                deaf.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                until(lambda: len(connections) == 1)
                until(lambda: len(connections) == 0)
        finally:
            server.should_exit = server.force_exit = True
            thread.join(timeout=20)
