"""Reading files that a user names. Every error is one line."""

from __future__ import annotations

import lzma
import os
import stat
from pathlib import Path
from typing import Any

from chaosops.core.chain import read_json
from chaosops.core.errors import BadInput

_MOST_BYTES = 2**30  # far above every file that chaosops writes
_MOST_EXPANDED = 2**28  # a small file may expand to anything
_MOST_MEMORY = 2**27  # for the decompressor; xz -9 needs half of it


def expanded(text: str) -> Path:
    """A path in which ``~`` is the user's home."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise BadInput(
            f"{text!r}: the home folder of that user is not known; write the path out"
        ) from None


def read_text(path: Path, kind: str, most_bytes: int = _MOST_BYTES) -> str:
    """The text of a file. ``kind`` names it in errors: a recipe, a recording."""
    try:
        return read_bytes(path, kind, most_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"cannot read {kind} {path}: it is not UTF-8 text ({error.reason})"
        ) from None


def read_bytes(path: Path, kind: str, most_bytes: int = _MOST_BYTES) -> bytes:
    """The content of a plain file; that of ``*.xz`` is decompressed."""
    try:
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            raise BadInput(f"cannot read {kind} {path}: it is a folder; name a file")
        if not stat.S_ISREG(found.st_mode):
            # A device or a pipe may never end.
            raise BadInput(f"cannot read {kind} {path}: it is not a plain file; copy it into one")
        if found.st_size > most_bytes:
            raise BadInput(f"cannot read {kind} {path}: it is larger than {_size(most_bytes)}")
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read {kind} {path}: {error.strerror or error}") from None
    except ValueError as error:  # a path with a null character
        raise BadInput(f"cannot read {kind} {str(path)!r}: {error}") from None
    return _expanded(content, path, kind) if path.suffix == ".xz" else content


def _size(count: int) -> str:
    return f"{count >> 30} GiB" if count >= 2**30 else f"{count >> 20} MiB"


def _expanded(content: bytes, path: Path, kind: str) -> bytes:
    found = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)
    try:
        text = found.decompress(content, _MOST_EXPANDED + 1)
    except (lzma.LZMAError, EOFError) as error:
        raise BadInput(f"cannot read {kind} {path}: it is not an xz file ({error})") from None
    if len(text) > _MOST_EXPANDED:
        raise BadInput(
            f"cannot read {kind} {path}: it expands to more than 256 MiB; if you trust it, "
            "decompress it with xz -d"
        )
    if not found.eof or found.unused_data:
        raise BadInput(f"cannot read {kind} {path}: it is not one whole xz stream")
    return text


def read_object(path: Path, kind: str) -> dict[str, Any]:
    """A file that holds one JSON object."""
    try:
        found = read_json(read_text(path, kind))
    except ValueError as error:
        raise BadInput(f"{path} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise BadInput(f"{path} is not a JSON object")
    return found
