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
        thread = threading.Thread(target=_serve, args=(self._loop,), daemon=True)
        thread.start()
        weakref.finalize(self, _close, http, self._loop, thread)

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


def _close(
    http: httpx.AsyncClient, loop: asyncio.AbstractEventLoop, thread: threading.Thread
) -> None:
    async def close() -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await http.aclose()
        loop.stop()

    asyncio.run_coroutine_threadsafe(close(), loop)
    if thread is not threading.current_thread():
        thread.join(timeout=2)
