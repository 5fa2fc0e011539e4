"""Writing files. Errors come before the work, and a file is written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chaosops.core.errors import BadInput

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_text(path: Path, text: str, what: str = "") -> None:
    """Replace the file in one step. A reader never sees half of it. If the disk is full, the old
    file stays."""
    write_bytes(path, text.encode("utf-8"), what)


def write_bytes(path: Path, content: bytes, what: str = "") -> None:
    partial = path.with_name(path.name + ".partial")
    try:
        if reason := _not_a_plain_file(path):
            raise BadInput(f"cannot write {path}: {reason}")
        partial.unlink(missing_ok=True)  # left by a run that was killed
        # O_EXCL, because a link in its place would be followed.
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with open(descriptor, "wb") as file:
                file.write(content)
            os.replace(partial, path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise unwritable(path, error, what) from None


def unwritable(path: Path, error: OSError, what: str = "") -> BadInput:
    named = f"{what} {path}" if what else str(path)
    cure = "; free some space and run it again" if error.errno in _FULL else ""
    return BadInput(f"cannot write {named}: {error.strerror or error}{cure}")


def open_file(path: Path, option: str, taken: Iterable[Path] = ()) -> Path:
    """Check before any work that a file can be written. The error names the option.

    ``taken`` are files that the same command reads or writes.
    """
    reason = _not_a_plain_file(path)
    if not reason and any(same_file(path, other) for other in taken):
        reason = "this command uses it already"
    if reason:
        raise BadInput(f"cannot write {path}: {reason}; choose another {option}")
    _try_writing(path.with_name(path.name + ".partial"), path, option)
    return path


def open_folder(path: Path, option: str = "--out") -> Path:
    """The same for a folder, which is created if it is missing."""
    _try_writing(path / ".writable", path, option)
    return path


@contextmanager
def opened_folder(path: Path, option: str = "--out") -> Iterator[Path]:
    """The same for some work. If it fails, no empty folder is left of it."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        yield open_folder(path, option)
    except BaseException:
        for folder in missing:
            with suppress(OSError):  # not empty, or never made
                folder.rmdir()
        raise


def _not_a_plain_file(path: Path) -> str:
    """Why a file must not be written here. Empty if it may."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return ""  # nothing is there; writing shows whether it can be written
    if stat.S_ISREG(mode):
        return ""
    if stat.S_ISDIR(mode):
        return "it is a folder"
    if stat.S_ISLNK(mode):
        return f"it is a link to {os.readlink(path)}"
    return "it is a device or a pipe"


def same_file(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # one is not there yet
        return os.path.realpath(one) == os.path.realpath(other)


def _try_writing(probe: Path, wanted: Path, option: str) -> None:
    try:
        probe.parent.mkdir(parents=True, exist_ok=True)
        probe.unlink(missing_ok=True)
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        reason = error.strerror or error
        raise BadInput(f"cannot write {wanted}: {reason}; choose another {option}") from None
