"""How many requests a server gets at once: additive increase, multiplicative decrease.

The window grows by one for each window of answers. It is halved when the server asks for fewer
requests (429, 503) or does not answer in time, and cut by a fifth when answers take three times as
long as they can: then requests wait in the server's queue, and more of them would only wait longer.
The pace changes when a request is sent, never what it says.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

FIRST = 8
REFUSED = 0.5
QUEUED = 0.8
SLOW = 3.0
_NEW = 0.2  # the weight of the newest answer in the smoothed latency


class Pace:
    """Used on one event loop."""

    def __init__(self, most: int, now: Callable[[], float] = time.monotonic) -> None:
        self.window = float(min(FIRST, most))
        self.busy = 0
        self._most = most
        self._now = now
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._not_before = 0.0
        self._cut_at = float("-inf")
        self._latency_s: float | None = None
        self._least_s = float("inf")

    @asynccontextmanager
    async def slot(self, until: float) -> AsyncIterator[float]:
        """Wait for a place, and yield when it was got. Past ``until`` the server's wish to wait is
        not obeyed any more, so that a request can fail in time."""
        while (held := self._held_s(until)) > 0 or self.busy >= int(self.window):
            await (asyncio.sleep(held) if held > 0 else self._turn())
        self.busy += 1
        try:
            yield self._now()
        finally:
            self.busy -= 1
            self._wake()

    def answered(self, started: float) -> None:
        """Called in the slot."""
        took = self._now() - started
        before = took if self._latency_s is None else self._latency_s
        self._latency_s = before + _NEW * (took - before)
        # One request at a time waits for none of ours. A server that became slower for good brings
        # the window down to there, and is measured anew.
        alone = self.window < 2
        self._least_s = self._latency_s if alone else min(self._latency_s, self._least_s)
        if self._latency_s > SLOW * self._least_s:
            self._cut(QUEUED, started)
        elif self.busy >= int(self.window):  # a window that is not used says nothing
            self.window = min(float(self._most), self.window + 1 / self.window)
            self._wake()

    def refused(self, started: float, retry_after_s: float | None = None) -> None:
        self._cut(REFUSED, started)
        self._not_before = max(self._not_before, self._now() + (retry_after_s or 0.0))

    def _cut(self, factor: float, started: float) -> None:
        """Once for all requests that were under way together."""
        if started < self._cut_at:
            return
        self.window = max(1.0, self.window * factor)
        self._cut_at = self._now()
        self._latency_s = None  # measured with the old window

    def _held_s(self, until: float) -> float:
        return min(self._not_before, until) - self._now()

    async def _turn(self) -> None:
        mine = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine in self._waiting:
                self._waiting.remove(mine)
            self._wake()  # this one may have been woken already
            raise

    def _wake(self) -> None:
        free = int(self.window) - self.busy
        while self._waiting and free > 0:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                free -= 1
