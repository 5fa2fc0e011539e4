"""Finds modules by their file names, and what other packages bring along by their entry points, so
that adding one changes no file here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from chaosops.core.errors import BadInput
from chaosops.core.importing import load_object

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def modules_in(path: Iterable[str], shipped: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The modules in a folder. ``shipped`` come first, in their order, because published prompts,
    letters and draws depend on it. Those added later follow by name."""
    found = sorted(info.name for info in iter_modules(path))
    return (*shipped, *(name for name in found if name not in shipped))


@cache
def installed(group: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    """The entry points of other packages by name. Nothing of them is imported. Several packages
    may use one name."""
    if not any(f"[{group}]" in text for text in _declarations()):
        return {}
    from importlib.metadata import entry_points

    found: dict[str, list[EntryPoint]] = {}
    # A folder that is twice on the path, or under two names, lists its packages twice.
    for point in sorted(set(entry_points(group=group)), key=lambda of: (of.name, of.value)):
        found.setdefault(point.name, []).append(point)
    return {name: tuple(points) for name, points in found.items()}


@cache
def _declarations() -> tuple[str, ...]:
    """The entry points that installed packages declare, as text. Only these small files are read,
    because ``importlib.metadata`` takes longer than most commands."""
    return tuple(_read_declarations())


def _read_declarations() -> Iterator[str]:
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                try:
                    yield Path(folder, name, "entry_points.txt").read_text(encoding="utf-8")
                except (OSError, ValueError):
                    continue


def load_installed(kind: str, name: str, points: tuple[EntryPoint, ...]) -> object:
    """What an entry point names. ``kind`` is for errors: a policy, a pack."""
    if len(points) > 1:
        homes = " and ".join(f"{brought_by(point)} ({point.value})" for point in points)
        raise BadInput(f"{kind} {name} is brought by {homes}; uninstall one of them")
    return load_object(points[0].value, f"{kind} {name} of package {brought_by(points[0])}")


def brought_by(point: EntryPoint) -> str:
    """The package that declares an entry point."""
    return point.dist.name if point.dist is not None else "unknown"
