"""One httpx client that outlives a call."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")


class KeptClient:
    """A client on an event loop in a thread of its own. Its connections are kept between calls,
    and the caller may run a loop of its own, as notebooks do."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=_serve, args=(self._loop,), daemon=True).start()
        weakref.finalize(self, _close, http, self._loop)

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Wait for the work. Ctrl-C cancels it."""
        future = asyncio.run_coroutine_threadsafe(work(), self._loop)
        try:
            return future.result()
        finally:
            future.cancel()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


def _close(http: httpx.AsyncClient, loop: asyncio.AbstractEventLoop) -> None:
    closing = asyncio.run_coroutine_threadsafe(http.aclose(), loop)
    closing.add_done_callback(lambda _: loop.call_soon_threadsafe(loop.stop))
