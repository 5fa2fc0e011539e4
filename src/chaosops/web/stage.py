"""Where episodes are played: in threads, so many at a time, and only while somebody watches."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from starlette.responses import StreamingResponse

from chaosops.core.errors import ChaosOpsError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
Lines = AsyncGenerator[bytes, None]


class Busy(ChaosOpsError):
    """All places are taken; the same request may succeed in a moment."""


class Stage:
    def __init__(self, places: int) -> None:
        self.places = places
        self.taken = 0
        self._lock = Lock()
        self.pool = ThreadPoolExecutor(places, thread_name_prefix="chaosops-episode")

    def take(self) -> Place:
        with self._lock:
            if self.taken >= self.places:
                raise Busy(
                    f"{self.places} episodes are being played, as many as this server plays at "
                    "once; wait a moment and try again"
                )
            self.taken += 1
        return Place(self)

    def give_back(self) -> None:
        with self._lock:
            self.taken -= 1


class Place:
    """One of the stage's places. It is free again once its last turn has really ended:
    a turn that a model is thinking about cannot be called off."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._job: Future[Any] | None = None

    async def work(self, job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """In a thread: the server goes on serving others."""
        started = self._stage.pool.submit(job, *args, **kwargs)
        self._job = started
        return await asyncio.wrap_future(started)

    def leave(self) -> None:
        if self._job is None:
            self._stage.give_back()
        else:
            self._job.add_done_callback(lambda _: self._stage.give_back())


class Broadcast(StreamingResponse):
    """Lines of JSON. When the visitor goes away, the episode ends and its place is free."""

    def __init__(self, lines: Lines, place: Place) -> None:
        super().__init__(lines, media_type="application/x-ndjson")
        self._lines = lines
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._lines.aclose()
            self._place.leave()


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


async def without_surprises(lines: Lines) -> Lines:
    """An error after the first line cannot change the status any more: it becomes a line."""
    try:
        async for item in lines:
            yield item
    except ChaosOpsError as error:
        yield line({"kind": "stopped", "why": str(error)})
    except Exception as error:
        log.exception("an episode broke")
        why = f"{type(error).__name__} in the server; its log has the details"
        yield line({"kind": "stopped", "why": why})
    finally:
        await lines.aclose()
