"""One file per failure; the file's name is the failure's id.

The files are found by their names, so adding a failure touches nothing else.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from chaosops.packs.classic.failure import Failure


def load_all() -> dict[str, Failure]:
    found = {}
    for module in sorted(iter_modules(__path__), key=lambda info: info.name):
        failure: Failure = import_module(f"{__name__}.{module.name}").FAILURE
        assert failure.id == module.name, f"{module.name}.py holds the failure {failure.id}"
        found[failure.id] = failure
    return found
