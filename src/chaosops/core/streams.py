"""The standard streams of a process."""

from __future__ import annotations

import os
import sys


def open_closed_streams() -> None:
    """Open ``os.devnull`` for each stream that the caller closed (``>&-``). Otherwise printing
    fails, and the next file or socket gets the stream's number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
