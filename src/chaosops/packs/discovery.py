"""Finds the parts of a pack by their file names: adding one touches nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def discover(
    package: str, path: Iterable[str], constant: str, name: str, shipped: tuple[str, ...]
) -> dict[str, Any]:
    """The ``constant`` of every module in a package, by its ``name``, which must be the file's.

    ``shipped`` come first, in their order: published prompts, letters and draws depend on it.
    Files added later follow by name.
    """
    files = sorted(info.name for info in iter_modules(path))
    found = {}
    for module in (*shipped, *(file for file in files if file not in shipped)):
        part = getattr(import_module(f"{package}.{module}"), constant)
        assert getattr(part, name) == module, f"{module}.py holds {getattr(part, name)}"
        found[module] = part
    return found
