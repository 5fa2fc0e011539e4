"""A pack's content hash: it changes when code or data of the pack do.

Comments, docstrings and formatting are left out, because they cannot change an episode.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


@cache
def source_hash(module: str) -> str:
    """The hash of the package of a module, or of a module without a package."""
    home = sys.modules[module]
    if home.__package__:
        sources = sorted(_sources(files(home.__package__), ""))
    else:
        path = Path(str(home.__file__))
        sources = [(path.name, _code(path.read_bytes()))]
    digest = blake2b(digest_size=8)
    for name, code in sources:
        digest.update(f"{name}\0{code}\0".encode())
    return digest.hexdigest()


def _sources(folder: Traversable, prefix: str) -> list[tuple[str, str]]:
    found = []
    for item in folder.iterdir():
        if item.is_dir():
            found += _sources(item, f"{prefix}{item.name}/")
        elif item.name.endswith(".py"):
            found.append((prefix + item.name, _code(item.read_bytes())))
    return found


def _code(source: bytes) -> str:
    words: list[str] = []
    _write(ast.parse(source), words)
    return " ".join(words)


def _write(node: ast.AST, words: list[str]) -> None:
    """Add a syntax tree to ``words``, without strings that stand alone. Empty fields are left out:
    which of them exist depends on the version of Python."""
    words.append(type(node).__name__)
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == [] or name == "ctx":  # the context follows from the place
            continue
        words.append(name)
        for item in value if isinstance(value, list) else (value,):
            if not isinstance(item, ast.AST):
                words.append(repr(item))
            elif not _is_text(item):
                _write(item, words)
    words.append(";")


def _is_text(line: ast.AST) -> bool:
    return (
        isinstance(line, ast.Expr)
        and isinstance(line.value, ast.Constant)
        and isinstance(line.value.value, str)
    )
