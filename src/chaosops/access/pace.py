"""Rate limits. Requests that come too fast are delayed.

A client that is refused tries again at once. A delay slows the client down and costs nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import NamedTuple

from chaosops.access.asgi import ASGIApp, Receive, Scope, Send, again, client_of, whole_body
from chaosops.access.limits import TOO_FAST, Limits, option_of

BURST_S = 2.0  # a client may save up this many seconds of requests and send them at once
LONGEST_WAIT_S = 2.0
FILES = 8  # files of the page for each other request
WEIGHED_S = 0.01
MOST_WEIGHT = 5.0
MOST_BYTES = 65_536  # of a body; routes refuse what is larger
_REMEMBERED = 4096


class Rate:
    """A number of requests a second for each name, with those of ``burst_s`` seconds at once."""

    def __init__(
        self, a_second: float, burst_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._interval = 1.0 / a_second
        self._burst_s = burst_s
        self._clock = clock
        self._due: dict[str, float] = {}

    def wait(self, name: str) -> float:
        """Seconds until the next request is allowed."""
        now = self._clock()
        return max(0.0, self._due.get(name, now) + self._interval - now - self._burst_s)

    def count(self, name: str, times: float = 1.0) -> None:
        now = self._clock()
        if len(self._due) >= _REMEMBERED:
            self._due = {who: due for who, due in self._due.items() if due > now}
        self._due[name] = max(now, self._due.get(name, now)) + times * self._interval


class _Lane(NamedTuple):
    """Requests that are counted together. ``all`` is None if only single clients have a rate."""

    each: Rate
    all: Rate | None
    is_weighed: bool


class Paced:
    """Delays requests and new WebSockets of a client that is too fast, and those of all clients
    if they are too fast together. A request that would wait too long is marked after a wait, and
    the gate refuses it.

    Three kinds of requests are counted apart: /health, so that monitoring always works; files of
    the page, which are many and cheap; and new WebSockets, because all sessions may be opened at
    once.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        each, all_ = limits.requests_per_client, limits.requests
        self._requests = _Lane(Rate(each, BURST_S), Rate(all_, BURST_S), is_weighed=True)
        self._health = _Lane(Rate(each, BURST_S), None, is_weighed=True)
        self._files = _Lane(
            Rate(each * FILES, BURST_S), Rate(all_ * FILES, BURST_S), is_weighed=False
        )
        self._sockets = _Lane(
            Rate(each, max(BURST_S, limits.sessions_per_client / each)),
            Rate(all_, max(BURST_S, limits.sessions / all_)),
            is_weighed=False,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            # A request counts when its body is here: a slow one must not delay others.
            body = await whole_body(receive, MOST_BYTES)
            if body is None:
                return
            receive = again(body, receive)
        lane, client = self._lane_of(scope), client_of(scope)
        option = option_of("requests_per_client")
        wait_s = lane.each.wait(client)
        if lane.all is not None and (all_wait_s := lane.all.wait("")) > wait_s:
            wait_s, option = all_wait_s, option_of("requests")
        if wait_s > LONGEST_WAIT_S:
            await asyncio.sleep(LONGEST_WAIT_S)
            await self._app({**scope, TOO_FAST: option}, receive, send)
            return
        _count(lane, client, 1.0)
        if wait_s:
            await asyncio.sleep(wait_s)
        start = time.perf_counter()
        await self._app(scope, receive, send)
        more = weight(time.perf_counter() - start) - 1.0
        if lane.is_weighed and more > 0:
            _count(lane, client, more)

    def _lane_of(self, scope: Scope) -> _Lane:
        if scope["type"] == "websocket":
            return self._sockets
        if scope["path"] == "/health":
            return self._health
        if scope["path"].startswith("/static/") and scope["method"] in ("GET", "HEAD"):
            return self._files
        return self._requests


def _count(lane: _Lane, client: str, times: float) -> None:
    lane.each.count(client, times)
    if lane.all is not None:
        lane.all.count("", times)


def weight(seconds: float) -> float:
    """A request counts once for each 10 ms that it took, so that a busy server takes fewer. Five
    times at most, because a stream of turns takes long and costs little.

    >>> weight(0.002), weight(0.025), weight(60)
    (1.0, 2.5, 5.0)
    """
    return min(MOST_WEIGHT, max(1.0, seconds / WEIGHED_S))
