"""Finds parts by the names of their files: adding one touches nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from pkgutil import iter_modules


def modules_in(path: Iterable[str], shipped: tuple[str, ...] = ()) -> tuple[str, ...]:
    """``shipped`` come first, in their order: published prompts, letters and draws depend on it.
    Those added later follow by name."""
    found = sorted(info.name for info in iter_modules(path))
    return (*shipped, *(name for name in found if name not in shipped))
