"""A pack's content hash: it changes whenever any file of the pack does."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable


@cache
def source_hash(package: str) -> str:
    digest = blake2b(digest_size=8)
    for name, content in sorted(_sources(files(package), "")):
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()


def _sources(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for item in folder.iterdir():
        if item.is_dir():
            found += _sources(item, f"{prefix}{item.name}/")
        elif item.name.endswith(".py"):
            found.append((prefix + item.name, item.read_bytes().replace(b"\r\n", b"\n")))
    return found
