"""A lock for one process per folder. The kernel releases it when the process ends."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chaosops.core.errors import BadInput
from chaosops.core.files import unwritable

LOCK_NAME = ".lock"

# A forked worker that outlives its parent must not keep the parent's lock.
_HELD: set[int] = set()


def _forget() -> None:
    while _HELD:
        os.close(_HELD.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@contextmanager
def locked(folder: Path, option: str = "--out") -> Iterator[None]:
    """Lock ``folder``, or raise an error that names the process that holds it."""
    path = folder / LOCK_NAME
    try:
        descriptor = _take(path)
    except BlockingIOError:
        raise BadInput(
            f"{folder} is in use by another chaosops ({_holder(path)}); "
            f"wait until it has ended, or choose another {option}"
        ) from None
    except OSError as error:
        raise unwritable(path, error) from None
    _HELD.add(descriptor)
    try:
        yield
    finally:
        _HELD.discard(descriptor)
        path.unlink(missing_ok=True)  # while it is still held
        os.close(descriptor)


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Wait for the lock file ``path``, so that several processes do the same work one by one."""
    import fcntl

    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _take(path: Path) -> int:
    import fcntl  # only on POSIX; --help must work elsewhere too

    while True:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The previous holder may have removed the file between open and flock.
            if _is_at(descriptor, path):
                os.ftruncate(descriptor, 0)
                os.write(descriptor, f"{os.getpid()}\n".encode())
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _holder(path: Path) -> str:
    """The process that holds the lock. One that has just started needs a moment to write its id."""
    for _ in range(50):
        with suppress(OSError):
            if number := path.read_text().strip():
                return f"process {number}"
        time.sleep(0.01)
    return "it has just started"
