"""Who may use a running server: hosts, origins, content types, the token, quotas of a client."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx
import pytest
from openenv.core.mcp_client import MCPToolClient
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from chaosops.access.limits import Limits, option_of
from chaosops.access.options import Access
from chaosops.cli.commands.serve import main
from chaosops.client import ChaosOpsEnv, SeatConnection
from chaosops.core.errors import BadInput
from tests.conftest import Outcome
from tests.server.conftest import Running, StartServer
from tests.server.talk import Line, line_to
from tests.server.test_environment import ROOT

TOKEN = "correct-horse-battery-staple"
SECRET = {"Authorization": f"Bearer {TOKEN}"}


def status_of_socket(served: Running, path: str, **headers: str) -> int:
    """101 where the server lets the WebSocket in."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with connect(f"{served.socket}{path}", proxy=None, additional_headers=given):
            return 101
    except InvalidStatus as refused:
        body = json.loads(refused.response.body or b"{}")
        assert body["detail"], "a refusal says why"
        return refused.response.status_code


@pytest.mark.parametrize("path", ["/ws", "/mcp", "/seat"])
def test_sockets_are_not_for_pages_of_other_sites(served: Running, path: str) -> None:
    assert status_of_socket(served, path) == 101
    assert status_of_socket(served, path, Origin=served.url) == 101
    assert status_of_socket(served, path, Origin="https://evil.example") == 403
    assert status_of_socket(served, path, Origin="null") == 403


@pytest.mark.parametrize("path", ["/reset", "/tables", "/mcp", "/chaosops/num_tasks"])
def test_posts_are_not_for_pages_of_other_sites(served: Running, path: str) -> None:
    evil = {"Origin": "https://evil.example"}
    refused = httpx.post(f"{served.url}{path}", json={}, headers=evil)
    assert refused.status_code == 403
    assert "--allow-origin https://evil.example" in refused.json()["detail"]
    own = httpx.post(f"{served.url}{path}", json={}, headers={"Origin": served.url})
    assert own.status_code != 403


@pytest.mark.parametrize("path", ["/ws", "/mcp", "/seat", "/tables", "/openapi.json", "/state"])
def test_a_name_that_was_rebound_is_not_answered(served: Running, path: str) -> None:
    """The page of evil.example, whose name now points here, seems to be of the same origin."""
    port = served.url.rpartition(":")[2]
    rebound = {"Host": f"evil.example:{port}", "Origin": f"http://evil.example:{port}"}
    refused = httpx.get(f"{served.url}{path}", headers=rebound)
    assert refused.status_code == 421
    assert "--public-host evil.example" in refused.json()["detail"]
    upgrade = {
        **rebound,
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    assert httpx.get(f"{served.url}{path}", headers=upgrade).status_code == 421
    health = httpx.get(f"{served.url}/health", headers=rebound)
    assert health.status_code == 200


def test_an_operator_may_allow_more(start_server: StartServer) -> None:
    lab = "https://lab.example.net"
    served = start_server("--public-host", "chaos.example.org", "--allow-origin", lab)
    public = {"Host": "chaos.example.org", "Origin": "https://chaos.example.org"}
    assert httpx.post(f"{served.url}/reset", json={}, headers=public).status_code == 200
    assert status_of_socket(served, "/ws", Origin=lab) == 101
    asked = {"Origin": lab, "Access-Control-Request-Method": "POST"}
    asked["Access-Control-Request-Headers"] = "content-type"
    preflight = httpx.options(f"{served.url}/reset", headers=asked)
    assert preflight.headers["Access-Control-Allow-Origin"] == lab
    evil = httpx.options(f"{served.url}/reset", headers={**asked, "Origin": "https://evil.example"})
    assert "Access-Control-Allow-Origin" not in evil.headers


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("text/plain", 415),  # what a page of another site may send without being asked
        ("application/x-www-form-urlencoded", 415),
        (None, 415),
    ],
)
def test_json_says_that_it_is_json(served: Running, kind: str | None, status: int) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    answer = httpx.post(f"{served.url}/reset", content=b'{"seed": 1}', headers=headers)
    assert answer.status_code == status
    assert httpx.post(f"{served.url}/reset").status_code == 200, "no body needs no type"


def test_every_answer_has_the_policy(served: Running) -> None:
    for path in ("/docs", "/redoc", "/web", "/nowhere", "/openapi.json", "/health", "/schema"):
        answer = httpx.get(f"{served.url}{path}")
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"], path
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "<script" not in answer.text
    for path in ("/docs", "/redoc"):
        assert httpx.get(f"{served.url}{path}").status_code == 404
    for answer in (
        httpx.post(f"{served.url}/reset", content=b"{", headers={"Content-Type": "text/plain"}),
        httpx.get(f"{served.url}/state", headers={"Host": "evil.example"}),
        httpx.post(f"{served.url}/reset", content=b"x" * 70_000, headers=SECRET),
    ):
        assert answer.status_code >= 400
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("path", "origin"), [("/ws", "https://evil.example"), ("/nowhere", "http://localhost")]
)
def test_a_refused_handshake_has_the_policy(served: Running, path: str, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        connect(f"{served.socket}{path}", proxy=None, additional_headers={"Origin": origin})
    told = refused.value.response
    assert told.status_code == 403
    assert "default-src 'none'" in told.headers["Content-Security-Policy"]
    assert told.headers["X-Content-Type-Options"] == "nosniff"
    assert json.loads(told.body or b"{}")["detail"]


def test_a_token_is_asked_for_everywhere_but_for_health(
    start_server: StartServer, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    served = start_server("--token-file", str(file))
    assert httpx.get(f"{served.url}/health").status_code == 200
    for path in ("/state", "/openapi.json", "/metadata", "/tables/x", "/nowhere", "/"):
        refused = httpx.get(f"{served.url}{path}")
        assert refused.status_code == 401, path
        assert refused.headers["WWW-Authenticate"] == "Bearer"
        wrong = {"Authorization": f"Bearer {TOKEN}x"}
        assert httpx.get(f"{served.url}{path}", headers=wrong).status_code == 401
        assert httpx.get(f"{served.url}{path}", headers=SECRET).status_code != 401
    for path in ("/reset", "/tables", "/mcp"):
        assert httpx.post(f"{served.url}{path}", json={}).status_code == 401
        assert httpx.post(f"{served.url}{path}", json={}, headers=SECRET).status_code != 401
    for path in ("/ws", "/mcp", "/seat"):
        assert status_of_socket(served, path) == 401
        assert status_of_socket(served, path, **SECRET) == 101


def test_clients_know_the_token(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cli: Any
) -> None:
    monkeypatch.setenv("CHAOSOPS_TOKEN", TOKEN)
    served = start_server()
    monkeypatch.delenv("CHAOSOPS_TOKEN")
    with ChaosOpsEnv(served.url, token=TOKEN).sync() as env:
        assert env.reset(seed=1).observation.step == 0

    async def tools() -> int:
        async with MCPToolClient(served.url, headers=SECRET) as client:
            await client.reset(seed=1)
            return len(await client.list_tools())

    assert asyncio.run(tools()) > 10
    assert "this server asks for its token" in cli("table", "--url", served.url).refusal
    with pytest.raises(BadInput, match=r"401; .* set CHAOSOPS_TOKEN, or give --server-token-file"):
        SeatConnection(served.url, "x")
    with (
        pytest.raises(ConnectionError, match=r"401; .* set CHAOSOPS_TOKEN, or give token="),
        ChaosOpsEnv(served.url).sync(),
    ):
        pass
    file = tmp_path / "token"
    file.write_text(TOKEN)
    outcome: Outcome = cli("table", "--url", served.url, "--json", "--server-token-file", str(file))
    seat = json.loads(outcome[1])["tokens"]["sre"]
    _, shown, _ = cli("table", "--url", served.url, "--server-token-file", str(file))
    assert f"--server-token-file {file}" in shown.splitlines()[-1]
    with SeatConnection(served.url, seat, server_token=TOKEN) as sitting:
        assert sitting.role == "sre"
    monkeypatch.setenv("CHAOSOPS_TOKEN", TOKEN)
    with SeatConnection(served.url, seat) as sitting, ChaosOpsEnv(served.url).sync() as env:
        assert env.reset(seed=1).observation.step == 0


def test_a_browser_is_asked_for_the_token_once(start_server: StartServer) -> None:
    served = start_server("--token", TOKEN)
    accept = {"Accept": "text/html"}
    with httpx.Client(base_url=served.url, headers=accept) as browser:
        form = browser.get("/openapi.json?x=1")
        assert form.status_code == 401
        assert '<form method="post">' in form.text
        assert "default-src 'none'" in form.headers["Content-Security-Policy"]
        assert browser.post("/openapi.json", data={"token": "wrong"}).status_code == 401
        entered = browser.post("/openapi.json?x=1", data={"token": TOKEN})
        assert entered.status_code == 303
        cookie = entered.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert TOKEN not in cookie
        assert entered.headers["Location"] == "./openapi.json?x=1"
        assert browser.get("/openapi.json").status_code == 200
        browser.cookies.clear()
        odd = browser.post("/a%0d%0ab%3Fc%C3%A9?x=1", data={"token": TOKEN})
        assert odd.headers["Location"] == "./a%0D%0Ab%3Fc%C3%A9?x=1"
        assert browser.get("/openapi.json").status_code == 200
        evil = {"Origin": "https://evil.example"}
        assert browser.post("/reset", json={}, headers=evil).status_code == 403
        assert browser.post("/reset", data={"token": TOKEN}).status_code == 415


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--token", "short"], "at least 16"),
        (["--token", "with a space in the middle"], "without spaces"),
        (["--token", TOKEN, "--token-file", "x"], "not both"),
        (["--token-file", "/nowhere/token"], "cannot read --token-file /nowhere/token"),
        (["--token-file", "/dev/zero"], "it is not a plain file"),
        (["--public-host", "https://x"], "is not a host"),
        (["--allow-origin", "x"], "is not an origin"),
        (["--trusted-proxy", "*"], "is not an address"),
        (["--max-tables", "0"], "whole number from 1"),
        (["--request-timeout", "0"], "more than 0 and at most 600 seconds"),
    ],
)
def test_an_option_that_cannot_be_used_is_one_line(cli: Any, words: list[str], said: str) -> None:
    refusal = cli("serve", "--port", "0", *words).refusal
    assert said in refusal
    assert TOKEN not in refusal


def test_a_client_has_a_quota_of_its_own(start_server: StartServer) -> None:
    """Behind a trusted proxy the visitor's own address counts, elsewhere the header does not."""
    limits = ["--max-sessions-per-client", "2", "--max-tables-per-client", "2"]
    served = start_server(*limits)
    proxied = start_server(*limits, "--trusted-proxy", "127.0.0.1")
    for server, free in ((served, False), (proxied, True)):
        with ExitStack() as stack:
            for _ in range(2):
                stack.enter_context(line_to(server.socket)).reset(seed=1)
            third = stack.enter_context(connect(f"{server.socket}/ws", proxy=None))
            refused = json.loads(third.recv())
            assert refused["data"]["code"] == "CAPACITY_REACHED"
            assert "--max-sessions-per-client" in refused["data"]["message"]
            other = {"X-Forwarded-For": "203.0.113.9"}
            another = connect(f"{server.socket}/ws", proxy=None, additional_headers=other)
            answer = Line(stack.enter_context(another)).ask("state") if free else None
            assert not free or (answer is not None and answer["type"] == "state")
            opened = [httpx.post(f"{server.url}/tables", json={}) for _ in range(3)]
            assert [answer.status_code for answer in opened] == [200, 200, 429]
            assert "--max-tables-per-client" in opened[2].json()["detail"]
            third_party = httpx.post(f"{server.url}/tables", json={}, headers=other)
            assert third_party.status_code == (200 if free else 429)


def test_a_full_lobby_refuses_before_it_builds(start_server: StartServer) -> None:
    served = start_server("--max-tables", "1")
    assert httpx.post(f"{served.url}/tables", json={}).status_code == 200
    # An unknown split would be found out while the episode is built.
    answer = httpx.post(f"{served.url}/tables", json={"split": "nowhere"})
    assert answer.status_code == 429


def test_every_option_stands_in_the_documentation() -> None:
    text = (ROOT / "docs/server.md").read_text(encoding="utf-8")
    for each in fields(Access):
        assert f"`--{each.name.replace('_', '-')}" in text, each.name
    for one in fields(Limits):
        row = next(line for line in text.splitlines() if f"`{option_of(one.name)}`" in line)
        assert f" {one.default:,} " in row, one.name


def test_the_script_of_openenv_takes_the_same_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["server", "--port", "0", "--max-tables", "3", "--trusted-proxy", "nowhere"]
    monkeypatch.setattr("sys.argv", words)
    assert main() == 2
    assert "--trusted-proxy 'nowhere' is not an address" in capsys.readouterr().err
