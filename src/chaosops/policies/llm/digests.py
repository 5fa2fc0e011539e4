"""Hashes of weights, taken when they are loaded.

A hash is remembered while the file's size, inode and times stay the same. One of them is the time
of the last status change, which no program can set.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from chaosops.core.errors import BadInput

_LOADED_FROM = (".safetensors", ".json", ".jinja", ".model", ".txt", ".bin", ".gguf")


def sha256_of(path: Path) -> str:
    """The hash of a file's content, in hexadecimal digits."""
    return _sha256(*_stamp(path))


def shortened(digest: str) -> str:
    """
    >>> shortened("b179c9523d0e6a0f98a330c7562b6827")
    'sha256:b179c9523d0e'
    """
    return "sha256:" + digest[:12]


def joint_hash(files: Sequence[Path]) -> str:
    """One hash for the names and contents of several files."""
    return joint_digest({path.name: sha256_of(path) for path in files})


def joint_digest(digests: Mapping[str, str]) -> str:
    """The same from the names of files and the hashes of their contents."""
    text = "".join(f"{name} {digest}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(text.encode()).hexdigest()


def files_of(model: Path) -> list[Path]:
    """A file, or every file of a folder that a model could be loaded from."""
    if model.is_file():
        return [model]
    return sorted(p for p in model.iterdir() if p.suffix in _LOADED_FROM and p.is_file())


def folder_hashes(folder: Path) -> dict[str, str]:
    return {path.name: sha256_of(path) for path in files_of(folder)}


def model_hash(model: Path) -> str:
    return sha256_of(model) if model.is_file() else joint_hash(files_of(model))


@contextmanager
def unchanged(*paths: Path) -> Iterator[None]:
    """Raise if a file changes between its hash and the end of loading."""
    before = [_stamp(path) for path in paths]
    yield
    for path, stamp in zip(paths, before, strict=True):
        if _stamp(path) != stamp:
            raise BadInput(f"{path} was changed while it was loaded; start again")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from None


def _stamp(path: Path) -> tuple[str, int, int, int, int]:
    with _readable(path):
        found = path.stat()
    return str(path), found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


@lru_cache(maxsize=256)
def _sha256(path: str, *_stamp: int) -> str:
    with _readable(Path(path)), Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
