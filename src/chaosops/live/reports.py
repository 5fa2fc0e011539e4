"""What processes and the control process tell each other, in datagrams on loopback.

Each process sends a *report* twice a second: the calls it made as their caller saw them, the lines
it logged, its gauges. The control process answers a newcomer, and everybody after a change, with
the *state* of the company: values, replicas, remedies. Both carry a code by the company's key, so
that no other process of the machine can write one.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import socket
from collections.abc import Callable
from hashlib import sha256
from typing import Any, cast

INTERVAL_S = 0.5
_MOST_LINES = 12  # in one report
_MOST_DURATIONS = 400
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def seal(key: bytes, content: dict[str, Any]) -> bytes:
    body = json.dumps(content, separators=(",", ":")).encode()
    return hmac.digest(key, body, sha256) + body


def unseal(key: bytes, data: bytes) -> dict[str, Any] | None:
    """The content, or None if the code is wrong.

    >>> unseal(b"key", seal(b"key", {"version": 1})), unseal(b"other", seal(b"key", {}))
    ({'version': 1}, None)
    """
    code, body = data[:32], data[32:]
    if not hmac.compare_digest(code, hmac.digest(key, body, sha256)):
        return None
    content: dict[str, Any] = json.loads(body)
    return content


class CallTally:
    """Calls to one service since the last report."""

    __slots__ = ("count", "durations", "errors", "pending", "total", "total_errors")

    def __init__(self) -> None:
        self.count = self.errors = self.total = self.total_errors = 0
        self.durations: list[int] = []
        self.pending: dict[int, float] = {}

    def note(self, failed: bool, seconds: float, heavy: bool) -> None:
        """Heavy requests are meant to take long, so they are not among the durations."""
        self.count += 1
        self.errors += failed
        self.total += 1
        self.total_errors += failed
        if not heavy:
            self.durations.append(int(1000 * seconds))

    def taken(self, now: float) -> list[Any]:
        """[count, errors, durations in ms, ages of the calls in flight in ms]."""
        ages = sorted((int(1000 * (now - since)) for since in self.pending.values()), reverse=True)
        out = [self.count, self.errors, self.durations[:_MOST_DURATIONS], ages[:50]]
        self.count = self.errors = 0
        self.durations = []
        return out


class Reporter(asyncio.DatagramProtocol):
    """The end of a process. ``on_state`` is called with each new state."""

    def __init__(
        self, who: tuple[str, int], control: int, key: bytes, on_state: Callable[[Any], None]
    ) -> None:
        self.who = who
        self.control = control
        self.key = key
        self.on_state = on_state
        self.version = 0
        self.reads: list[str] = []
        """The settings that parts of this process read, as SERVICE.SETTING."""
        self.calls: dict[str, CallTally] = {}
        self.lines: list[tuple[str, str]] = []
        self.gauges: dict[str, Callable[[], float]] = {}
        self._transport: asyncio.DatagramTransport | None = None
        self._delayed = _run_delay_ms()

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.create_datagram_endpoint(
            lambda: self, remote_addr=("127.0.0.1", self.control), family=socket.AF_INET
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: object) -> None:
        state = unseal(self.key, data)
        if state is not None and state["version"] > self.version:
            self.version = state["version"]
            self.on_state(state)
            self.send()

    def error_received(self, exc: Exception) -> None:
        """The control process is gone. The parent ends this one."""

    def tally(self, callee: str) -> CallTally:
        return self.calls.setdefault(callee, CallTally())

    def log(self, level: str, text: str) -> None:
        if len(self.lines) < _MOST_LINES:
            self.lines.append((level, text))

    def send(self) -> None:
        if self._transport is None:
            return
        now = asyncio.get_running_loop().time()
        delayed = _run_delay_ms()
        report = {
            "who": self.who,
            "pid": os.getpid(),
            "version": self.version,
            "reads": self.reads,
            "calls": {name: tally.taken(now) for name, tally in self.calls.items()},
            "lines": self.lines,
            "delay_ms": round(delayed - self._delayed, 1),
            "gauges": {name: read() for name, read in self.gauges.items()},
        }
        self.lines, self._delayed = [], delayed
        self._transport.sendto(seal(self.key, report))

    async def run(self) -> None:
        while True:
            self.send()
            await asyncio.sleep(INTERVAL_S)


def _run_delay_ms() -> float:
    """How long this process could have run and had no core, since it was started."""
    try:
        with open("/proc/self/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e6
    except OSError:  # a kernel without it: only the canary says what is void
        return 0.0


def resident_mb() -> float:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * _PAGE / 1e6
