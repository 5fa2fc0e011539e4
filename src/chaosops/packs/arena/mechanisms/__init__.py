"""One file per mechanism; the file's name is its id. They are found by their names."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from chaosops.packs.arena.mechanism import Mechanism


def load_all() -> dict[str, Mechanism]:
    found = {}
    for module in sorted(iter_modules(__path__), key=lambda info: info.name):
        mechanism: Mechanism = import_module(f"{__name__}.{module.name}").MECHANISM
        assert mechanism.id == module.name, f"{module.name}.py holds {mechanism.id}"
        found[mechanism.id] = mechanism
    return found


MECHANISMS = load_all()
