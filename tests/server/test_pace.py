"""Who is never slowed down: visitors of the page, and a trainer that opens its sessions."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from chaosops.access.limits import Limits
from chaosops.access.options import Access
from chaosops.server.app import Settings, build_app
from tests.server.conftest import StartServer

LAB = "https://lab.example.net"


def client_of(limits: Limits, **access: Any) -> httpx.AsyncClient:
    app = build_app(Settings(limits=limits, access=Access(**access)))
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://localhost", timeout=20
    )


def test_ten_visitors_of_one_address_get_every_file() -> None:
    async def visit(client: httpx.AsyncClient) -> Counter[int]:
        found, unread = Counter[int](), {"/"}
        seen = set(unread)
        while unread:
            answers = await asyncio.gather(*map(client.get, sorted(unread)))
            found.update(answer.status_code for answer in answers)
            named = {
                str(answer.url.join(name).raw_path.decode())
                for answer in answers
                for name in re.findall(r'"([./\w]+\.(?:js|css|svg))"', answer.text)
            }
            unread = named - seen
            seen |= named
        assert len(seen) > 15, seen
        return found

    async def visits() -> Counter[int]:
        async with client_of(Limits()) as client:
            found = await asyncio.gather(*[visit(client) for _ in range(10)])
        return sum(found, Counter[int]())

    assert set(asyncio.run(visits())) == {200}


def test_all_sessions_of_a_client_open_at_once(start_server: StartServer) -> None:
    served = start_server()
    many = Limits().sessions_per_client
    everybody = asyncio.Barrier(many)

    async def play() -> str:
        try:
            async with connect(f"{served.socket}/ws", proxy=None, open_timeout=60) as socket:
                await socket.send(json.dumps({"type": "state"}))
                answer = json.loads(await socket.recv())
                await everybody.wait()  # none leaves before all are there
                return str(answer["type"])
        except InvalidStatus as refused:
            await everybody.wait()
            return str(refused.response.status_code)

    async def play_all() -> Counter[str]:
        return Counter(await asyncio.gather(*[play() for _ in range(many)]))

    assert asyncio.run(play_all()) == {"state": many}


@pytest.mark.parametrize(("method", "path"), [("GET", "/state"), ("POST", "/reset")])
def test_other_requests_are_paced_and_an_allowed_page_can_read_why(method: str, path: str) -> None:
    async def flood() -> list[httpx.Response]:
        limits = Limits(requests_per_client=1)
        async with client_of(limits, allow_origin=(LAB,)) as client:
            headers = {"Origin": LAB}
            asked = [client.request(method, path, headers=headers) for _ in range(12)]
            return await asyncio.gather(*asked)

    answers = asyncio.run(flood())
    refused = [answer for answer in answers if answer.status_code == 429]
    assert 6 <= len(refused) <= 10
    for answer in refused:
        assert "--max-requests-per-client" in answer.json()["detail"]
        assert answer.headers["Access-Control-Allow-Origin"] == LAB


def test_a_rebound_name_is_refused_before_origins_are_told() -> None:
    asked = {"Origin": LAB, "Access-Control-Request-Method": "POST", "Host": "evil.example"}

    async def ask() -> httpx.Response:
        async with client_of(Limits(), allow_origin=(LAB,)) as client:
            return await client.options("/reset", headers=asked)

    answer = asyncio.run(ask())
    assert answer.status_code == 421
    assert "Access-Control-Allow-Origin" not in answer.headers
