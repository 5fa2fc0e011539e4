"""Proxy settings of the environment: loopback ignores them, and a bad one is a single line."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from chaosops.policies.registry import load_policy
from tests.conftest import Outcome

Cli = Callable[..., Outcome]
VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
BAD = ["://", "ftp://x", "http://[::", "socks5://127.0.0.1:9", "http://127.0.0.1:9"]


@pytest.fixture(params=BAD)
def proxy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in VARIABLES:
        monkeypatch.setenv(name, request.param)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    return str(request.param)


@pytest.fixture
def server() -> Iterator[str]:
    """Answers every POST as a table's opening."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.dumps({"table": "t1", "turn_timeout_s": 3, "tokens": {"sre": "abc"}})
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def test_a_table_on_this_machine_needs_no_proxy(cli: Cli, proxy: str, server: str) -> None:
    code, out, err = cli("table", "--url", server)
    assert (code, err) == (0, "")
    assert "sre       abc" in out


@pytest.mark.parametrize("command", ["table", "seat"])
def test_a_proxy_that_cannot_be_used_is_one_line(cli: Cli, proxy: str, command: str) -> None:
    token = ["--token", "x"] if command == "seat" else []
    said = cli(command, "--url", "http://chaosops.invalid", *token).refusal
    assert said.startswith("chaosops: cannot reach a ChaosOps server at http://chaosops.invalid: ")


def test_an_endpoint_on_this_machine_needs_no_proxy(cli: Cli, proxy: str) -> None:
    """Refused by the port itself, not by the proxy."""
    spec = "openai:m@http://127.0.0.1:9/v1+patience=0"
    code, _, err = cli("run", "--policy", spec, "--max-steps", "1")
    assert (code, "Connection refused" in err) == (2, True)


def test_an_endpoint_behind_a_bad_proxy_is_one_line(cli: Cli, proxy: str) -> None:
    spec = "openai:m@http://chaosops.invalid/v1+patience=0"
    load_policy(spec)
    assert cli("run", "--policy", spec, "--max-steps", "1").refusal


def test_the_hub_behind_a_bad_proxy_is_one_line(
    cli: Cli, proxy: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from huggingface_hub.utils import close_session

    monkeypatch.setenv("HF_TOKEN", "hf_not_a_token")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    close_session()
    recipe = tmp_path / "mine.toml"
    recipe.write_text("steps = 2\n")
    options = ["--source", "chaosops==1", "--repo-prefix", "ada/x"]
    assert cli("jobs", "launch", str(recipe), *options).refusal
    close_session()
