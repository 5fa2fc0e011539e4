"""The standard streams of a process."""

from __future__ import annotations

import os
import sys


def open_closed_streams() -> None:
    """Where the caller closed one (``>&-``), Python has None; nobody who prints expects that, and
    the next file or socket would get its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
