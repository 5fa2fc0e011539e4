"""Processes that cannot outlive the one that started them."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_libc = ctypes.CDLL(None, use_errno=True)


def die_with(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """Let the kernel end this process when its parent ends. It has to be called after a change of
    user, which clears it. A parent that ended before is noticed too."""
    _libc.prctl(_PR_SET_PDEATHSIG, int(by), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def name_process(name: str) -> None:
    """The name that ``ps`` and ``top`` show: 15 letters at most."""
    _libc.prctl(_PR_SET_NAME, name[:15].encode(), 0, 0, 0)


def fork(name: str, body: Callable[[], None]) -> int:
    """Run ``body`` in a child. It never returns into the code of the parent."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
        signal.set_wakeup_fd(-1)
        die_with(parent)
        name_process(name)
        body()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
