"""A rate that nobody exceeds: a client that asks faster waits, and costs nothing meanwhile.

A refusal would invite the next try at once. A delay slows down whoever waits for an answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from chaosops.access.asgi import App, Receive, Scope, Send, again, refuse, whole_body
from chaosops.access.clients import client_of
from chaosops.access.limits import Limits, option_of

BURST_S = 2.0  # what was not used for so long may be used at once
LONGEST_WAIT_S = 2.0
WEIGHED_S = 0.01
MOST_WEIGHT = 5.0
MOST_BYTES = 65_536  # of a body; routes refuse what is larger
_REMEMBERED = 4096


class Rate:
    """So many a second for each name, and some seconds' worth of them at once."""

    def __init__(
        self, a_second: float, burst_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._interval = 1.0 / a_second
        self._burst_s = burst_s
        self._clock = clock
        self._due: dict[str, float] = {}

    def wait(self, name: str) -> float:
        """Seconds until one more is in time."""
        now = self._clock()
        return max(0.0, self._due.get(name, now) + self._interval - now - self._burst_s)

    def count(self, name: str, times: float = 1.0) -> None:
        now = self._clock()
        if len(self._due) >= _REMEMBERED:
            self._due = {who: due for who, due in self._due.items() if due > now}
        self._due[name] = max(now, self._due.get(name, now)) + times * self._interval


class Paced:
    """Delays requests and new WebSockets of who is too fast, and those of all if all together are.
    Who would have to wait long is refused after a wait."""

    def __init__(self, app: App, limits: Limits) -> None:
        self._app = app
        self._each = Rate(limits.requests_per_client, BURST_S)
        self._all = Rate(limits.requests, BURST_S)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            # One whose body never comes is none: it would keep others of this address waiting.
            body = await whole_body(receive, MOST_BYTES)
            if body is None:
                return
            receive = again(body, receive)
        # Whoever looks after this server must be able to see that it lives, whatever else comes
        # from the same address: /health is counted by itself.
        counts_for_all = scope["path"] != "/health"
        client = client_of(scope) if counts_for_all else f"{client_of(scope)} /health"
        option = option_of("requests_per_client")
        wait_s = self._each.wait(client)
        if counts_for_all and (all_wait_s := self._all.wait("")) > wait_s:
            wait_s, option = all_wait_s, option_of("requests")
        if wait_s > LONGEST_WAIT_S:
            await asyncio.sleep(LONGEST_WAIT_S)
            problem = (
                f"too many requests; ask less often, or start the server with a larger {option}"
            )
            await refuse(scope, receive, send, 429, problem, {"retry-after": "5"})
            return
        self._each.count(client)
        if counts_for_all:
            self._all.count("")
        if wait_s:
            await asyncio.sleep(wait_s)
        start = time.perf_counter()
        await self._app(scope, receive, send)
        more = weight(time.perf_counter() - start) - 1.0
        if scope["type"] == "http" and more > 0:
            self._each.count(client, more)
            if counts_for_all:
                self._all.count("", more)


def weight(seconds: float) -> float:
    """A request counts once for each 10 ms that it took: the busier the server, the fewer it takes
    from one client. Five times at most, because a stream of turns takes long and little.

    >>> weight(0.002), weight(0.025), weight(60)
    (1.0, 2.5, 5.0)
    """
    return min(MOST_WEIGHT, max(1.0, seconds / WEIGHED_S))
