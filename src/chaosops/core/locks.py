"""One process at a time, for work that several may start at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover  Windows has no flock
    fcntl = None  # type: ignore[assignment]


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Wait for ``path``, a lock file. The kernel frees it when its holder dies."""
    with path.open("a") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
