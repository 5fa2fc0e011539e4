"""A pool of workers, and an ordered map over items on it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# Parts of the items for each worker, so that all of them end at about the same time.
_PARTS_EACH = 8
_LARGEST = 64  # items of a part: a model is asked for all of them together
_TICK_S = 0.5


@dataclass
class Tally:
    """What a worker has done. One thread at a time writes it."""

    items: int = 0
    told: int = 0  # what the work counts by itself, for example turns
    restarts: int = 0


class Worker(Protocol):
    def call(self, tally: Tally, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function in the worker. If the worker is killed, call it again in a new one."""
        ...

    def close(self) -> None:
        """End the worker, and the call that waits for it in another thread."""
        ...


@dataclass
class _Manned:
    worker: Worker
    tally: Tally = field(default_factory=Tally)


class Pool(Executor):
    """An executor whose threads wait for a worker each."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        manned = [_Manned(worker) for worker in workers]
        self.tallies = [each.tally for each in manned]
        self._workers = workers
        self._idle: SimpleQueue[_Manned] = SimpleQueue()
        for each in manned:
            self._idle.put(each)
        self._threads = ThreadPoolExecutor(len(workers))

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        assert not named, "functions for workers take their arguments by position"
        return self._threads.submit(self._call, 1, function, *args)

    def submit_part(self, work: Work[_Item, _Result], part: Sequence[_Item]) -> Future[Any]:
        return self._threads.submit(self._call, len(part), _listed, work, part)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Pending work is dropped, and work that is being done too."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.close()
        self._threads.shutdown(wait=wait)

    def _call(self, counts: int, function: Callable[..., Any], *args: Any) -> Any:
        chosen = self._idle.get()
        try:
            result = chosen.worker.call(chosen.tally, function, *args)
        finally:
            self._idle.put(chosen)
        chosen.tally.items += counts
        return result


# Takes items and yields a result for each of them, in order. Workers get it pickled.
Work = Callable[[Sequence[_Item]], Iterable[_Result]]


def in_order(
    pool: Pool | None,
    work: Work[_Item, _Result],
    items: Sequence[_Item],
    tick: Callable[[], None] = lambda: None,
) -> Iterator[_Result]:
    """The results of ``work`` in the order of the items, computed here or by the pool. ``tick`` is
    called now and then while the pool works."""
    if pool is None:
        yield from work(items)
        return
    size = max(1, min(_LARGEST, len(items) // (_PARTS_EACH * len(pool.tallies))))
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    coming = deque(pool.submit_part(work, part) for part in parts)
    try:
        while coming:
            while wait([coming[0]], _TICK_S).not_done:
                tick()
            yield from coming.popleft().result()
    finally:
        for future in coming:
            future.cancel()


def _listed(work: Work[_Item, _Result], part: Sequence[_Item]) -> list[_Result]:
    return list(work(part))
