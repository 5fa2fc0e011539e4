"""Finds modules by their file names, so that adding one changes no other file."""

from __future__ import annotations

from collections.abc import Iterable
from pkgutil import iter_modules


def modules_in(path: Iterable[str], shipped: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The modules in a folder. ``shipped`` come first, in their order, because published prompts,
    letters and draws depend on it. Those added later follow by name."""
    found = sorted(info.name for info in iter_modules(path))
    return (*shipped, *(name for name in found if name not in shipped))
