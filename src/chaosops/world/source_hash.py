"""A pack's content hash: it changes when code or data of the pack do.

Comments, docstrings and formatting are left out, because they cannot change an episode.
"""

from __future__ import annotations

import ast
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable


@cache
def source_hash(package: str) -> str:
    digest = blake2b(digest_size=8)
    for name, code in sorted(_sources(files(package), "")):
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
    return repr(_plain(ast.parse(source)))


def _plain(node: object) -> object:
    """A syntax tree as tuples, without strings that stand alone. Empty fields are left out:
    which of them exist depends on the version of Python."""
    if isinstance(node, list):
        return tuple(_plain(item) for item in node if not _is_text(item))
    if not isinstance(node, ast.AST):
        return node
    fields = ((name, _plain(value)) for name, value in ast.iter_fields(node))
    return (type(node).__name__, *(item for item in fields if item[1] not in (None, ())))


def _is_text(line: object) -> bool:
    return (
        isinstance(line, ast.Expr)
        and isinstance(line.value, ast.Constant)
        and isinstance(line.value.value, str)
    )
