"""Start many servers quickly: one process imports the server, then forks for each of them.

The imports take three seconds of a core, a fork none. What runs in the fork is
``chaosops serve`` as from a shell.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]


class Forked:
    """A process that is no child of this one, so that it is held by a descriptor."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._handle = os.pidfd_open(pid)

    def send_signal(self, number: signal.Signals) -> None:
        if not self._ended(0):
            signal.pidfd_send_signal(self._handle, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float = 60) -> None:
        assert self._ended(timeout), f"the process still runs after {timeout} s"

    def close(self) -> None:
        os.close(self._handle)

    def _ended(self, timeout: float) -> bool:
        return bool(select.select([self._handle], [], [], timeout)[0])


def forked(*words: str, stdout: int, stderr: IO[str], files: int | None = None) -> Forked:
    """Run a command in a process of its own that may open so many files."""
    order = {"words": words, "files": files, "environment": dict(os.environ), "cwd": os.getcwd()}
    channel = _forker()
    text = json.dumps(order).encode()
    assert len(text) < 100_000
    socket.send_fds(channel, [text], [stdout, stderr.fileno()])
    return Forked(int(channel.recv(100)))


@cache
def _forker() -> socket.socket:
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.server.forking"],
        stdin=there.fileno(),
        cwd=ROOT,
    )
    there.close()

    def end() -> None:
        here.close()
        process.wait(timeout=60)

    atexit.register(end)
    return here


def _fork_for_each_order() -> None:
    import chaosops.server.app  # noqa: F401  what takes so long
    from chaosops.cli import main

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits here for those that ended
    channel = socket.socket(fileno=0)
    while True:
        text, descriptors, _, _ = socket.recv_fds(channel, 100_000, 2)
        if not text:
            return
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), *descriptors)):
                os.dup2(descriptor, number)
                os.close(descriptor)
            channel.detach()
            sys.stdout = open(1, "w", buffering=1)  # noqa: SIM115  until the process ends
            sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
            order = json.loads(text)
            os.environ.clear()
            os.environ.update(order["environment"])
            os.chdir(order["cwd"])
            if order["files"]:
                resource.setrlimit(resource.RLIMIT_NOFILE, (order["files"], order["files"]))
            raise SystemExit(main(order["words"]))
        for descriptor in descriptors:
            os.close(descriptor)
        channel.send(str(pid).encode())


if __name__ == "__main__":
    _fork_for_each_order()
