"""What the tests' workers do. Workers import it by name."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from chaosops.core.errors import UnknownName
from chaosops.workers import tell_driver

_setups = 0


def set_up() -> None:
    global _setups
    _setups += 1


def count_setups(items: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The process, and how often it was set up."""
    return ((os.getpid(), _setups) for _ in items)


def square(items: Sequence[int]) -> Iterator[int]:
    for item in items:
        tell_driver(10)
        yield item * item


def rest(items: Sequence[int]) -> Iterator[int]:
    time.sleep(5)
    yield from square(items)


def talk(items: Sequence[int]) -> Iterator[int]:
    print("a worker talks")
    yield from square(items)


def die_once(marker: Path, items: Sequence[int]) -> Iterator[int]:
    if 5 in items and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    yield from square(items)


def die(items: Sequence[int]) -> Iterator[int]:
    os.kill(os.getpid(), signal.SIGKILL)
    yield 0


def refuse(items: Sequence[int]) -> Iterator[int]:
    raise UnknownName("policy", "orcale", ["oracle"])


def divide(items: Sequence[int]) -> Iterator[float]:
    return (1 / item for item in items)
