"""Where episodes are played: in threads, so many at a time, and only while somebody watches."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from starlette.responses import StreamingResponse

from chaosops.access.limits import Limits
from chaosops.access.quotas import OverQuota, Quota
from chaosops.core.errors import ChaosOpsError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
Lines = AsyncGenerator[bytes, None]


class Stage:
    """``models``: of the episodes, those that a model plays; there are fewer of them, so that who
    waits for a model never keeps all places from the others."""

    def __init__(self, limits: Limits) -> None:
        self.episodes = Quota("episodes", limits)
        self.models = Quota("model_episodes", limits)
        self.pool = ThreadPoolExecutor(limits.episodes, thread_name_prefix="chaosops-episode")

    def take(self, client: str, *, is_model: bool) -> Place:
        quotas = [self.episodes, self.models] if is_model else [self.episodes]
        for i, quota in enumerate(quotas):
            try:
                quota.take(client)
            except OverQuota:
                for taken in quotas[:i]:
                    taken.give_back(client)
                raise
        return Place(self, client, quotas)


class Place:
    """One of the stage's places. It is free again once its last turn has really ended:
    a turn that a model is thinking about cannot be called off, one that waits for it can."""

    def __init__(self, stage: Stage, client: str, quotas: Sequence[Quota]) -> None:
        self._stage = stage
        self._client = client
        self._quotas = quotas
        self._job: Future[Any] | None = None
        self._has_left = False
        self._call_off: Callable[[], object] = lambda: None

    async def work(self, job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """In a thread: the server goes on serving others."""

        def run() -> T:
            place_at_work.set(self)
            return job(*args, **kwargs)

        started = self._stage.pool.submit(run)
        self._job = started
        return await asyncio.wrap_future(started)

    def await_turn(self, queued: Future[T]) -> T:
        """What a queue further on will answer. Who leaves meanwhile leaves that queue too."""
        self._call_off = queued.cancel
        if self._has_left:
            queued.cancel()
        return queued.result()

    def leave(self) -> None:
        self._has_left = True
        self._call_off()
        if self._job is None:
            self._give_back()
        else:
            self._job.add_done_callback(lambda _: self._give_back())

    def _give_back(self) -> None:
        for quota in self._quotas:
            quota.give_back(self._client)


# Whose turn a thread plays.
place_at_work: ContextVar[Place | None] = ContextVar("place_at_work", default=None)


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
            try:
                await self._lines.aclose()
            finally:
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
