"""Writing files so that nobody is surprised: early errors, and whole files or none."""

from __future__ import annotations

import os
from pathlib import Path

from chaosops.core.errors import BadInput


def write_text(path: Path, text: str) -> None:
    """Whole or not at all: a reader never sees half a file."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


def open_file(path: Path, option: str) -> Path:
    """A file that can be written to, or an error that names its option before any work is done."""
    if path.is_dir():
        raise BadInput(f"cannot write {path}: it is a folder; choose another {option}")
    _try_writing(path.with_name(path.name + ".partial"), path, option)
    return path


def open_folder(path: Path, option: str = "--out") -> Path:
    """The same for a folder, which is made if it is missing."""
    _try_writing(path / ".writable", path, option)
    return path


def _try_writing(probe: Path, wanted: Path, option: str) -> None:
    try:
        probe.parent.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        reason = error.strerror or error
        raise BadInput(f"cannot write {wanted}: {reason}; choose another {option}") from None
