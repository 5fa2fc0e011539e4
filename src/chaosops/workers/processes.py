"""Workers that are processes of this machine."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.workers.identity import identity
from chaosops.workers.pool import Tally
from chaosops.workers.serving import RESULT, Answer, answer, result_of, start

_TOLD = "told"
_TRIES = 4  # for one call: work that ends each process would be tried for ever


@contextmanager
def process_workers(count: int, setup: Callable[[], None]) -> Iterator[list[ProcessWorker]]:
    threads = max(1, (os.cpu_count() or 1) // count)
    driver = identity()
    workers = [ProcessWorker(driver, setup, threads) for _ in range(count)]
    try:
        for worker in workers:
            worker.require_ready()
        yield workers
    finally:
        for worker in workers:
            worker.close()


class ProcessWorker:
    def __init__(self, driver: Mapping[str, str], setup: Callable[[], None], threads: int) -> None:
        self._setting = (driver, setup, threads)
        self._closed = False
        self._exit_code: int | None = None  # of the process before this one
        self._starting = Lock()  # a process that another thread starts cannot be killed yet
        self._start()

    def _start(self) -> None:
        # Torch's threads do not survive a fork, so processes are spawned.
        context = get_context("spawn")
        with self._starting:
            if self._closed:
                raise EOFError
            self._pipe, theirs = context.Pipe()
            args = theirs, *self._setting
            self._process = context.Process(target=_serve, args=args, daemon=True)
            self._process.start()
            theirs.close()  # so that the end of the process is the end of the pipe

    def require_ready(self) -> None:
        """Wait for the process. One that is killed meanwhile is started again."""
        for _ in range(_TRIES):
            try:
                result_of(self._pipe.recv())
            except (EOFError, OSError):
                self._start_again()
            else:
                return
        raise _ended(f"{_TRIES} times when it was started", self._exit_code)

    def call(self, tally: Tally, function: Callable[..., Any], *args: Any) -> Any:
        for _ in range(_TRIES):
            try:
                self._pipe.send((function, args))
                answered = self._answer(tally)
            except (EOFError, OSError):
                if self._closed:
                    raise
                self._restart(tally)
            else:
                return result_of(answered)
        raise _ended(f"{_TRIES} times in the same work", self._exit_code)

    def close(self) -> None:
        with self._starting:
            self._closed = True
            self._process.kill()

    def _answer(self, tally: Tally) -> Answer:
        while True:
            answered: Answer = self._pipe.recv()
            if answered[0] != _TOLD:
                return answered
            tally.told += answered[1]

    def _restart(self, tally: Tally) -> None:
        self._start_again()
        tally.restarts += 1
        self.require_ready()

    def _start_again(self) -> None:
        self._pipe.close()
        self._process.join()
        self._exit_code = self._process.exitcode
        self._start()


def _ended(when: str, exit_code: int | None) -> BadInput:
    told = f"a worker process ended {when}, with exit code {exit_code}"
    if exit_code == -signal.SIGKILL:
        return BadInput(f"{told}: often too little memory; use fewer --workers")
    return BadInput(
        f"{told}, see its error above; in a script, the call belongs under "
        'if __name__ == "__main__"'
    )


def _serve(
    pipe: Connection, driver: Mapping[str, str], setup: Callable[[], None], threads: int
) -> None:
    # Ctrl-C reaches every process of the terminal; the driver ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # prints of a user's own code must not stand among the driver's result

    def tell(count: int) -> None:
        pipe.send((_TOLD, count))

    with suppress(EOFError, OSError):  # the driver is gone
        started = start(driver, setup, threads, tell)
        pipe.send(started)
        while started[0] == RESULT:
            function, args = pipe.recv()
            pipe.send(answer(function, args))
