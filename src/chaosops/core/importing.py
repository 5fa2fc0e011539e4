"""Imports code of a user's own, named ``MODULE:NAME`` or ``FILE.py:NAME``. Every error is one line
with its cause.

An import runs code. So only names from the command line or from Python come here, never names from
the wire or from a file of results.
"""

from __future__ import annotations

import re
import sys
import traceback
from hashlib import sha256
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from chaosops.core.errors import BadInput
from chaosops.core.inputs import expanded, read_bytes
from chaosops.core.printable import short

_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_FILE = re.compile(rf"(?P<home>.+\.py)(?::(?P<name>{_DOTTED})?)?")
_MODULE = re.compile(rf"(?P<home>{_DOTTED}):(?P<name>{_DOTTED})")


class ObjectName(NamedTuple):
    """``home`` is a file or a module; ``name`` may be missing after a file."""

    home: str
    name: str
    is_file: bool


def read_name(text: str) -> ObjectName | None:
    """
    >>> read_name("lab.monitors:Careful")
    ObjectName(home='lab.monitors', name='Careful', is_file=False)
    >>> read_name("../monitor.py:careful")
    ObjectName(home='../monitor.py', name='careful', is_file=True)
    >>> read_name("heuristic") is read_name("hf:Qwen/Qwen3-4B") is None
    True
    """
    if match := _FILE.fullmatch(text):
        return ObjectName(match["home"], match["name"] or "", True)
    if match := _MODULE.fullmatch(text):
        return ObjectName(match["home"], match["name"], False)
    return None


def load_object(text: str, shown: str) -> object:
    """The object with this name. ``shown`` says in errors what was to be loaded."""
    named = read_name(text)
    if named is None:
        raise BadInput(f"{shown}: {short(text)} is not MODULE:NAME or FILE.py:NAME")
    module = _file_module(named.home, shown) if named.is_file else _module(named.home, shown)
    found: object = module
    for part in named.name.split("."):
        if not part or not hasattr(found, part):
            own = ", ".join(_own_names(module)) or "nothing public"
            missing = f"has no {named.name!r}" if named.name else "needs a name after the colon"
            raise BadInput(f"{shown}: {named.home} {missing}; it has: {own}")
        found = getattr(found, part)
    return found


def file_digest(found: object) -> str:
    """A hash of the file in which an object was defined, to tell whether it has changed. Empty if
    there is no file, as in a notebook."""
    home = sys.modules.get(getattr(found, "__module__", type(found).__module__))
    path = getattr(home, "__file__", None)
    return sha256(Path(path).read_bytes()).hexdigest()[:16] if path else ""


def cause(error: BaseException, file: str | None = None) -> str:
    """An error in one line, with the last place in ``file``, or the last of all.

    >>> cause(KeyError("latency"))
    "KeyError: 'latency'"
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == file] or frames
    text = " ".join(str(error).split())
    words = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, SyntaxError) or not own:
        return words  # a syntax error names its line itself
    return f"{words} ({Path(own[-1].filename).name}, line {own[-1].lineno})"


def _module(name: str, shown: str) -> ModuleType:
    # The installed command does not look in the working folder; ``python -m`` does.
    _look_in(Path.cwd())
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise BadInput(
                f"{shown}: there is no module {error.name!r} here or installed; start in its "
                "folder, install it, or write FILE.py:NAME"
            ) from error
        raise _broken(name, shown, error) from error
    except (Exception, SystemExit) as error:
        raise _broken(name, shown, error) from error


def _file_module(home: str, shown: str) -> ModuleType:
    path = expanded(home)
    read_bytes(path, "Python file")  # a missing file or a folder is an error of one line
    path = path.resolve()
    # Two files may have the same name, and an installed module too.
    name = f"chaosops_own_{path.stem}_{sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    _look_in(path.parent)  # for the modules beside it
    spec = spec_from_file_location(name, path)
    assert spec is not None, "the name ends in .py"
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _broken(home, shown, error, str(path)) from error
    return module


def _look_in(folder: Path) -> None:
    """At the end of the path, where it hides no installed module."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _broken(home: str, shown: str, error: BaseException, file: str | None = None) -> BadInput:
    return BadInput(f"{shown}: cannot import {home}: {cause(error, file)}")


def _own_names(module: ModuleType) -> list[str]:
    """The classes and functions that a module defines."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
