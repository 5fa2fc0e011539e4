"""How many requests a server gets at once: in a simulation, and against a server that limits."""

from __future__ import annotations

import asyncio
import heapq
import threading
import time

import pytest

from chaosops.policies.llm.pace import FIRST, Pace
from tests.policies.llm.asking import policy_at, requests_for
from tests.policies.llm.faulty_server import Behaviour, Body, FaultyServer, Handler, answer, status


class Simulated:
    """A server with ``slots``, each of which answers a request in one second. Others wait in its
    queue, or are refused. The client always has more to ask."""

    def __init__(self, slots: int, most: int = 256, *, refuses: bool = False) -> None:
        self.slots = slots
        self.second = 1.0
        self.now = 0.0
        self.pace = Pace(most, lambda: self.now)
        self.answered = self.refused = 0
        self.windows: list[float] = []
        self._refuses = refuses
        self._under_way: list[tuple[float, float, bool]] = []  # end, start, whether it is answered
        self._free = [0.0] * slots

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        self._fill()
        while self._under_way and self._under_way[0][0] <= end:
            self.now, started, good = heapq.heappop(self._under_way)
            if good:
                self.answered += 1
                self.pace.answered(started)
            else:
                self.refused += 1
                self.pace.refused(started)
            self.pace.busy -= 1
            self.windows.append(self.pace.window)
            self._fill()

    def _fill(self) -> None:
        while self.pace.busy < int(self.pace.window):
            self.pace.busy += 1
            free = min(self._free)
            if self._refuses and free > self.now:
                heapq.heappush(self._under_way, (self.now + 0.05, self.now, False))
                continue
            done = max(self.now, free) + self.second
            self._free[self._free.index(free)] = done
            heapq.heappush(self._under_way, (done, self.now, True))


@pytest.mark.parametrize("slots", [1, 4, 30])
def test_a_server_that_queues_is_kept_busy_and_not_flooded(slots: int) -> None:
    server = Simulated(slots)
    server.run(400)
    settled = server.windows[len(server.windows) // 2 :]
    assert server.answered > 0.9 * slots * 400
    assert max(settled) < 5 * slots + 2


def test_a_server_that_becomes_slower_for_good_is_measured_anew() -> None:
    server = Simulated(20)
    server.run(100)
    server.second = 10.0
    server.run(20_000)
    settled = server.windows[-2000:]
    assert sum(settled) / len(settled) > 20


def test_a_server_that_refuses_is_asked_less_and_stays_in_use() -> None:
    server = Simulated(10, refuses=True)
    server.run(400)
    assert server.refused < 0.1 * server.answered
    assert server.answered > 0.6 * 10 * 400


def test_the_window_grows_to_its_limit_and_no_further() -> None:
    server = Simulated(1000, most=20)
    assert server.pace.window == FIRST
    server.run(100)
    assert server.pace.window == 20


def test_faults_of_one_moment_count_once() -> None:
    clock = 0.0
    pace = Pace(64, lambda: clock)
    clock = 1.0
    for _ in range(5):
        pace.refused(started=0.5)
    assert pace.window == FIRST / 2
    clock = 2.0
    pace.refused(started=1.5)
    assert pace.window == FIRST / 4
    for later in range(3, 20):
        clock = later + 0.5
        pace.refused(started=later)
    assert pace.window == 1


def test_a_window_that_is_not_used_does_not_grow() -> None:
    clock = 0.0
    pace = Pace(64, lambda: clock)
    for _ in range(50):
        clock += 1
        pace.busy = 1
        pace.answered(clock - 1)
    assert pace.window == FIRST


def test_a_cancelled_wait_loses_no_slot() -> None:
    async def work() -> None:
        pace = Pace(1)
        forever = time.monotonic() + 60

        async def hold(seconds: float) -> None:
            async with pace.slot(forever):
                await asyncio.sleep(seconds)

        first = asyncio.create_task(hold(0.05))
        await asyncio.sleep(0)
        waiting = [asyncio.create_task(hold(0)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await first
        waiting[1].cancel()  # woken already, or about to be
        await asyncio.wait_for(waiting[2], 5)
        assert pace.busy == 0

    asyncio.run(work())


def at_most(count: int, retry_after: str = "0.05") -> Behaviour:
    """Answer so many requests at once, and refuse the others."""
    lock = threading.Lock()
    busy = 0

    def behave(handler: Handler, body: Body) -> None:
        nonlocal busy
        with lock:
            busy += 1
            good = busy <= count
        time.sleep(0.01)
        with lock:
            busy -= 1
        (answer if good else status(429, "slow down", Retry_After=retry_after))(handler, body)

    return behave


@pytest.mark.parametrize("concurrency", [1, 3, 64])
def test_decisions_do_not_depend_on_the_pace(server: FaultyServer, concurrency: int) -> None:
    requests = requests_for(24)
    expected = policy_at(server).decide(requests)
    server.always = at_most(3)
    assert policy_at(server, f"+concurrency={concurrency}").decide(requests) == expected


def test_retry_after_holds_the_other_requests_too(server: FaultyServer) -> None:
    policy = policy_at(server, "+concurrency=2+patience=30")
    policy.decide(requests_for(1))
    server.seen.clear()
    server.times.clear()
    server.script = [status(429, "slow down", Retry_After="1")]
    policy.decide(requests_for(6))
    under_way = 2
    gap = server.times[under_way] - server.times[0]
    assert gap > 0.9


def test_policies_of_one_server_share_its_connections(server: FaultyServer) -> None:
    for _ in range(4):
        policy_at(server, "+concurrency=2").decide(requests_for(4))
    assert len(server.connections) == 2
