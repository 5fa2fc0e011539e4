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
    probe = path.with_name(path.name + ".partial")
    try:
        if path.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        reason = error.strerror or error
        raise BadInput(f"cannot write {path}: {reason}; choose another {option}") from None
    return path
