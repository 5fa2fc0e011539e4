"""Seats are counted, and fall free."""

from __future__ import annotations

import asyncio
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from chaosops.access.limits import Limits, OverQuota, Quota
from chaosops.core.vocabulary import Role
from chaosops.policies.registry import load_policy
from chaosops.web.choices import read_scenario
from chaosops.web.episode_pool import EpisodePool, EpisodeStream
from chaosops.web.routes import Settings
from chaosops.web.seats import SeatGone, Seats
from tests.web.conftest import messages, serving
from tests.web.test_seats import CLASSIC, do, sit


def test_seats_are_counted_whoever_comes_at_once() -> None:
    def slow_clock() -> float:
        time.sleep(0.002)
        return 0.0

    quota = Quota("seats", Limits(seats=8, seats_per_client=9))
    seats = Seats(quota, idle_s=60, clock=slow_clock)
    partners = load_policy("random")

    def come(_: int) -> bool:
        try:
            seats.sit(read_scenario({}), Role.OVERSIGHT, "random", partners, "me")
        except OverQuota:
            return False
        return True

    with ThreadPoolExecutor(16) as visitors:
        assert sum(visitors.map(come, range(24))) == 8
    assert len(seats) == 8


def test_seats_fall_free_and_are_not_endless() -> None:
    now = [0.0]
    seats = Seats(Quota("seats", Limits(seats=2)), idle_s=60, clock=lambda: now[0])
    partners = load_policy("random")
    first, second = (
        seats.sit(read_scenario({}), Role.OVERSIGHT, "random", partners, "me") for _ in range(2)
    )
    for one in (first, second):
        seats.find(one.key)  # they were read
    with pytest.raises(OverQuota, match="all 2 seats are taken"):
        seats.require_room("you")
    now[0] = 50
    seats.find(second.key)
    now[0] = 70
    with pytest.raises(SeatGone):
        seats.find(first.key)
    assert seats.find(second.key) is second
    seats.require_room("you")


def test_a_seat_whose_key_nobody_read_is_free_after_seconds() -> None:
    settings = Settings(results=(), limits=Limits(seats=3), seat_claim_s=1.5)
    with serving(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        host, _, port = address.removeprefix("http://").partition(":")
        for _ in range(6):  # some are gone before the seat is there, some after
            with socket.create_connection((host, int(port))) as gone:
                gone.sendall(b"POST /api/seats?role=oversight HTTP/1.1\r\nHost: localhost\r\n\r\n")
        claimed = sit_within(client, 30)
        assert client.post(f"/api/seats/{claimed}/claim").status_code == 204
        unclaimed = sit_within(client, 30)
        time.sleep(1.8)
        assert do(client, unclaimed, {"action": "noop"}).status_code == 410
        assert do(client, claimed, {"action": "noop"}).status_code == 200
        assert client.post("/api/seats/nobody/claim").status_code == 410


def sit_within(client: httpx.Client, seconds: float) -> str:
    """The key of a seat, as soon as one is free."""
    deadline = time.monotonic() + seconds
    while True:
        answer = client.post("/api/seats", params={"role": "oversight"})
        if answer.status_code == 200 and "seat" in (told := messages(answer)[0]):
            key: str = told["seat"]
            return key
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.1)


def test_a_visitor_has_so_many_seats_and_no_more() -> None:
    settings = Settings(results=(), limits=Limits(seats_per_client=2))
    with serving(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        seats = [sit(client, CLASSIC, "oversight")[0]["seat"] for _ in range(2)]
        refused = client.post("/api/seats", params={**CLASSIC, "role": "oversight"})
        assert refused.status_code == 429
        assert "--max-seats-per-client" in refused.json()["detail"]
        client.post(f"/api/seats/{seats[0]}/leave")
        sit(client, CLASSIC, "oversight")


def test_a_broadcast_that_fails_to_close_gives_its_place_back() -> None:
    pool = EpisodePool(Limits(episodes=1))

    class Stubborn:
        """Lines whose end fails, as that of a generator does that goes on when it is closed."""

        def __aiter__(self) -> Any:
            return self

        async def __anext__(self) -> bytes:
            raise StopAsyncIteration

        async def aclose(self) -> None:
            raise RuntimeError("async generator ignored GeneratorExit")

    async def receive() -> Any:
        await asyncio.sleep(60)

    async def send(_: Any) -> None: ...

    async def broadcast() -> None:
        lines: Any = Stubborn()
        answer = EpisodeStream(lines, pool.take("me", is_model=False))
        await answer({"type": "http", "asgi": {"spec_version": "2.3"}}, receive, send)

    for _ in range(2):  # there is one place, and it is free again
        with pytest.raises(RuntimeError, match="ignored GeneratorExit"):
            asyncio.run(broadcast())
    assert pool.episodes.taken == 0
