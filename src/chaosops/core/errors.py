"""Errors that are shown to the user.

    ChaosOpsError          shown to the user as one line, exit code 2
    ├── UnknownName        a name that is not in its catalogue, with the nearest ones
    ├── BadInput           a value, file or folder that cannot be used
    └── MissingExtra       an optional dependency, with the pip line that installs it

A bad *reply* of a policy is not an error but data: an ``Unreadable`` action, which the world
answers with a miscommunication. It is counted and scored.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from chaosops.core.printable import short

_ROOT = Path(__file__).parents[3]  # the folder of a clone


class ChaosOpsError(Exception):
    """Base of all errors that a user can cause and fix."""


class BadInput(ChaosOpsError):
    """A value, file or folder that cannot be used."""


class UnknownName(ChaosOpsError):
    """A name that is not in its catalogue.

    >>> print(UnknownName("policy", "orcale", ["random", "oracle"]))
    unknown policy 'orcale'; did you mean 'oracle'? allowed: random, oracle
    """

    def __init__(self, kind: str, given: object, allowed: Iterable[str]) -> None:
        names = [str(name) for name in allowed]
        near = difflib.get_close_matches(str(given), names, n=2, cutoff=0.6)
        hint = " did you mean " + " or ".join(repr(name) for name in near) + "?" if near else ""
        super().__init__(f"unknown {kind} {short(str(given))};{hint} allowed: {', '.join(names)}")


class MissingExtra(ChaosOpsError):
    """An optional dependency that is not installed."""

    def __init__(self, work: str, package: str, extra: str, instead: str = "") -> None:
        cure = install_line(extra) + (f", or {instead}" if instead else "")
        super().__init__(f"{work} needs {package}, which is not installed: {cure}")


def install_line(extra: str) -> str:
    """The pip command for a clone, a wheel or a repository: no package index has ChaosOps.

    >>> "pip install" in install_line("web") and "[web]" in install_line("web")
    True
    """
    if (_ROOT / "pyproject.toml").is_file():
        return f"{_pip()} install -e '{'.' if Path.cwd() == _ROOT else _ROOT}[{extra}]'"
    return f"{_pip()} install 'chaosops[{extra}] @ {_source()}'"


def _pip() -> str:
    """The pip of this environment, which the shell may not find, or may find another."""
    import shlex
    import shutil
    import sys

    python = Path(sys.executable)
    found = shutil.which("pip")
    same = found is not None and Path(found).parent == python.parent
    return "pip" if same else f"{shlex.quote(str(python))} -m pip"


def _source() -> str:
    """Where pip installed this copy from, by pip's own record."""
    import json
    from importlib import metadata

    try:
        noted = metadata.distribution("chaosops").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        noted = None
    origin = json.loads(noted or '{"url": "WHEEL-OR-URL"}')
    return f"{'git+' if 'vcs_info' in origin else ''}{origin['url']}"
