"""Finds the parts of a pack by their file names: adding one touches nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def discover(package: str, path: Iterable[str], constant: str, name: str) -> dict[str, Any]:
    """The ``constant`` of every module in a package, by its ``name``, which must be the file's."""
    found = {}
    for module in sorted(info.name for info in iter_modules(path)):
        part = getattr(import_module(f"{package}.{module}"), constant)
        assert getattr(part, name) == module, f"{module}.py holds {getattr(part, name)}"
        found[module] = part
    return found
