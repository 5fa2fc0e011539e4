"""A process that does nothing until the parent of a company is gone, and then tidies up.

The kernel ends the children of a parent that was killed. Files stay, and so does a small piece of
shared memory of PostgreSQL. The janitor outlives the parent by a moment to remove them.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from chaosops.live.children import name_process
from chaosops.live.folder import remove

_PATIENCE_S = 3.0


def start(folder: Path, reading: int, writing: int) -> int:
    """Fork it. Only the parent keeps the writing end of the pipe, so that its end is seen."""
    # As long as the janitor has the folder open, no other folder gets its inode number.
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    pid = os.fork()
    if pid:
        os.close(reading)
        os.close(opened)
        return pid
    try:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        name_process("co-janitor")
        os.close(writing)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        while os.read(reading, 1):
            pass
        _tidy_up(folder, opened)
    finally:
        os._exit(0)


def _tidy_up(folder: Path, opened: int) -> None:
    if not _is_same(folder, opened):
        return
    until = time.monotonic() + _PATIENCE_S
    while (pid := _postgres(folder)) and time.monotonic() < until:
        time.sleep(0.05)
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.2)
    if _is_same(folder, opened):
        remove(folder)


def _is_same(folder: Path, opened: int) -> bool:
    """The folder may be gone, and a new company of the same name may have another one there."""
    try:
        return os.path.samestat(folder.lstat(), os.fstat(opened))
    except OSError:
        return False


def _postgres(folder: Path) -> int:
    """The server of this folder, if it is still there. A number alone may name another process."""
    try:
        pid = int((folder / "pg" / "data" / "postmaster.pid").read_text().split()[0])
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError, IndexError):
        return 0
    return pid if str(folder).encode() in command else 0
