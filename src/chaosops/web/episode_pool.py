"""The threads in which episodes are played: a limited number, and only while somebody watches."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from starlette.responses import StreamingResponse

from chaosops.access.limits import Limits, OverQuota, Quota
from chaosops.core.errors import ChaosOpsError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
Lines = AsyncGenerator[bytes, None]


class Unavailable(ChaosOpsError):
    """A policy cannot be loaded. The page shows no number under its name."""


class EpisodePool:
    """``models`` counts the episodes that a model plays. Its limit is lower, so that visitors who
    wait for a model never use up all slots."""

    def __init__(self, limits: Limits) -> None:
        self.episodes = Quota("episodes", limits)
        self.models = Quota("model_episodes", limits)
        self.threads = ThreadPoolExecutor(limits.episodes, thread_name_prefix="chaosops-episode")

    def take(self, client: str, *, is_model: bool) -> Slot:
        quotas = [self.episodes, self.models] if is_model else [self.episodes]
        for i, quota in enumerate(quotas):
            try:
                quota.take(client)
            except OverQuota:
                for taken in quotas[:i]:
                    taken.give_back(client)
                raise
        return Slot(self.threads, client, quotas)


class Slot:
    """One episode of the pool. It is free again when its last turn has ended: a turn that waits
    for a model can be cancelled, a turn that the model is computing cannot."""

    def __init__(self, threads: ThreadPoolExecutor, client: str, quotas: Sequence[Quota]) -> None:
        self._threads = threads
        self._client = client
        self._quotas = quotas
        self._job: Future[Any] | None = None
        self._has_left = False
        self._cancel: Callable[[], object] = lambda: None
        self.ahead: Callable[[], int] = lambda: 0
        """How many calls a model answers before the one that this slot waits for."""

    @property
    def is_working(self) -> bool:
        """Whether a thread still plays a turn, or the start."""
        return self._job is not None and not self._job.done()

    async def work(self, job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in a thread, so that the event loop stays free."""

        def run() -> T:
            current_slot.set(self)
            return job(*args, **kwargs)

        started = self._threads.submit(run)
        self._job = started
        return await asyncio.wrap_future(started)

    def wait_for(self, queued: Future[T], ahead: Callable[[], int]) -> T:
        """The result of a queued call. ``leave`` takes the call out of its queue."""
        self._cancel, self.ahead = queued.cancel, ahead
        if self._has_left:
            queued.cancel()
        return queued.result()

    def leave(self) -> None:
        self._has_left = True
        self._cancel()
        if self._job is None:
            self._give_back()
        else:
            self._job.add_done_callback(lambda _: self._give_back())

    def _give_back(self) -> None:
        for quota in self._quotas:
            quota.give_back(self._client)


# The slot whose turn this thread plays.
current_slot: ContextVar[Slot | None] = ContextVar("current_slot", default=None)


class EpisodeStream(StreamingResponse):
    """Lines of JSON. When the visitor goes away, the episode ends and its slot is freed."""

    def __init__(self, lines: Lines, slot: Slot) -> None:
        self._lines = errors_as_lines(lines)
        super().__init__(self._lines, media_type="application/x-ndjson")
        self._slot = slot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            try:
                await self._lines.aclose()
            finally:
                self._slot.leave()


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


async def errors_as_lines(lines: Lines) -> Lines:
    """The status was sent with the first line, so a later error is sent as a line."""
    try:
        async for item in lines:
            yield item
    except Unavailable as error:
        yield line({"kind": "unavailable", "why": str(error)})
    except ChaosOpsError as error:
        yield line({"kind": "stopped", "why": str(error)})
    except Exception as error:
        log.exception("an episode failed")
        why = f"{type(error).__name__} in the server; its log has the details"
        yield line({"kind": "stopped", "why": why})
    finally:
        await lines.aclose()
