"""Traces to files and servers, by the commands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from google.protobuf.json_format import MessageToJson
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tests.conftest import Outcome

Cli = Callable[..., Outcome]


class Server(HTTPServer):
    """Keeps what it was sent, and answers as it is told."""

    status, content = 200, b""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.asked: list[tuple[str, dict[str, str], bytes]] = []


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, dict(self.headers), body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()
        self.wfile.write(self.server.content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # loopback does not go there
    with Server() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def recording(cli: Cli, tmp_path: Path) -> Path:
    path = tmp_path / "episode.json"
    assert cli("run", "--policy", "heuristic", "--record", str(path)).code == 0
    return path


def test_a_server_gets_protocol_buffers_and_its_key(
    cli: Cli, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20YTpi, x-scope = own")
    done = cli("run", "--policy", "heuristic", "--otlp", f"{server.url}/api/public/otel")
    assert (done.code, done.err) == (0, "")
    ((path, headers, body),) = server.asked
    assert path == "/api/public/otel/v1/traces"
    assert headers["Content-Type"] == "application/x-protobuf"
    assert (headers["Authorization"], headers["x-scope"]) == ("Basic YTpi", "own")
    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    root, *others = resource.scope_spans[0].spans
    assert f"sent: trace {root.trace_id.hex()} to {server.url}" in done.out
    assert others[-1].name == "labels"
    played_ns = root.end_time_unix_nano - root.start_time_unix_nano
    assert 0 < played_ns < 50 * 10**9  # measured, not simulated


def test_json_stays_alone_on_stdout(cli: Cli, server: Server) -> None:
    done = cli("run", "--policy", "heuristic", "--json", "--otlp", server.url)
    assert done.out.startswith("{")
    assert done.out.endswith("}\n")
    assert done.err.startswith("sent: trace ")


def test_a_file_is_the_same_each_time(cli: Cli, recording: Path, tmp_path: Path) -> None:
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for file in files:
        done = cli("replay", str(recording), "--otlp", str(file))
        assert done.out.endswith(f"written: {file}\n")
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_text().count("\n") == 1


def test_a_replay_is_sent_with_times_of_today(cli: Cli, recording: Path, server: Server) -> None:
    assert cli("replay", str(recording), "--otlp", server.url).code == 0
    ((_, _, body),) = server.asked
    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    assert resource.scope_spans[0].spans[0].start_time_unix_nano > 1_700_000_000 * 10**9


PARTLY = ExportTraceServiceResponse()
PARTLY.partial_success.rejected_spans = 3
PARTLY.partial_success.error_message = "too\nmuch"
TAKEN = ExportTraceServiceResponse()
TAKEN.partial_success.error_message = "an attribute is deprecated"


@pytest.mark.parametrize(
    ("status", "content", "said"),
    [
        (401, b"", "it wants a key (HTTP 401); set OTEL_EXPORTER_OTLP_HEADERS"),
        (404, b"", "it takes no traces there (HTTP 404)"),
        (500, b"out of\nspace \x1b[2J", "HTTP 500 out of space"),
        (200, PARTLY.SerializeToString(), "it refused 3 spans: too much"),
        (200, MessageToJson(PARTLY).encode(), "it refused 3 spans: too much"),
        (200, b"<html>\n<body>", "it answers '<html> <body>', which is not OTLP; docs/otlp.md"),
        (202, b"ok, thank you", "it answers 'ok, thank you', which is not OTLP"),
        (200, b"[]", "it answers '[]', which is not OTLP"),
        (200, b"null", "it answers 'null', which is not OTLP"),
        (200, b'{"partialSuccess": 3}', """it answers '{"partialSuccess": 3}', which is"""),
        (200, b"[" * 100_000, "it answers '[[[["),
        (200, b"\xff\xfe", "it answers '\ufffd\ufffd', which is not OTLP"),
    ],
)
def test_a_refusal_is_one_line(
    cli: Cli, recording: Path, server: Server, status: int, content: bytes, said: str
) -> None:
    server.status, server.content = status, content
    refusal = cli("replay", str(recording), "--otlp", server.url).refusal
    assert f"{server.url} did not take the trace: {said}" in refusal


@pytest.mark.parametrize(
    "content", [b"", TAKEN.SerializeToString(), b"{}", MessageToJson(TAKEN).encode(), b'{"new": 1}']
)
def test_a_server_that_takes_it_may_answer_in_both_forms(
    cli: Cli, recording: Path, server: Server, content: bytes
) -> None:
    server.content = content
    assert cli("replay", str(recording), "--otlp", server.url).code == 0


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("http://127.0.0.1:9", "Connection refused; start the server, or write it to a file"),
        ("http://ada:secret@127.0.0.1", "must not hold a user or password"),
        ("http://127.0.0.1:99999", "expected http://HOST:PORT, or a file"),
        ("http://127.0.0.1/?key=secret", "expected http://HOST:PORT, or a file"),
        ("ftp://127.0.0.1/x", "'ftp://127.0.0.1/x': expected http://HOST:PORT, or a file"),
        ("grpc://ada:secret@127.0.0.1", "expected http://HOST:PORT, or a file"),
        ("http:/127.0.0.1", "expected http://HOST:PORT, or a file"),
        ("", "--otlp '': expected http://HOST:PORT, or a file"),
        (" ", "expected http://HOST:PORT, or a file"),
    ],
)
def test_a_wrong_address_is_one_line(
    cli: Cli, recording: Path, target: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(recording.parent)
    refusal = cli("replay", str(recording), "--otlp", target).refusal
    assert said in refusal
    assert "secret@" not in refusal
    assert [*recording.parent.iterdir()] == [recording], "no file or folder of that name"


def test_a_key_that_cannot_be_sent_is_not_shown(
    cli: Cli, recording: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("secret", "Authorization=sec\x1bret", "a b=secret"):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", text)
        refusal = cli("replay", str(recording), "--otlp", server.url).refusal
        assert "OTEL_EXPORTER_OTLP_HEADERS" in refusal
        assert "ret" not in refusal.replace("OTEL_EXPORTER_OTLP_HEADERS", "")
    assert server.asked == []


def test_a_missing_extra_says_its_pip_line_before_the_run(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [each for each in sys.modules if each.startswith("opentelemetry")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry.proto", None)
    refusal = cli("run", "--otlp", "http://127.0.0.1:9").refusal
    assert "sending traces needs opentelemetry-proto" in refusal
    assert "[otlp]'" in refusal
    assert cli("run", "--otlp", str(tmp_path / "a.jsonl")).code == 0  # a file needs no extra
