"""Run folders: one for each company, in a folder of the user's own.

A company holds the lock of its folder as long as it lives. A folder without its company was left
by a machine that lost power or by a double kill; the next start removes it.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from chaosops.core.errors import BadInput, UnknownName

_LOCK = "lock"
# Where root starts it, PostgreSQL runs as another user and must reach its part.
_MODE = 0o711 if os.getuid() == 0 else 0o700
_UNLOCKED_S = 60.0  # a folder is made a moment before its company locks it
_DETACHED_S = 2.0  # processes of PostgreSQL end a moment after their server


def base_folder() -> Path:
    base = Path(tempfile.gettempdir()) / f"chaosops-live-{os.getuid()}"
    base.mkdir(mode=_MODE, exist_ok=True)
    found = base.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise BadInput(f"{base} belongs to somebody else; set TMPDIR to a folder of your own")
    base.chmod(_MODE)
    return base


def new_folder(name: str = "") -> Path:
    """A fresh run folder. A name can be used by one company at a time."""
    sweep()
    path = base_folder() / (name or secrets.token_hex(3))
    if name and not name.replace("-", "").replace("_", "").isalnum():
        raise BadInput(f"a company's name has letters, digits, - and _ only: {name!r}")
    try:
        path.mkdir(mode=_MODE)
    except FileExistsError:
        raise BadInput(
            f"a company named {name} is running; end it with: chaosops live down"
        ) from None
    path.chmod(_MODE)
    return path


def hold(folder: Path) -> int:
    """Mark a folder as in use, until this process and its janitor end."""
    # Locked before it has its name: a lock that nobody holds is one whose company is gone.
    unnamed = folder / f"{_LOCK}.new"
    descriptor = os.open(unnamed, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    unnamed.rename(folder / _LOCK)
    return descriptor


def is_held(folder: Path) -> bool:
    try:
        descriptor = os.open(folder / _LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def running() -> list[Path]:
    """The folders of this user's companies that are running."""
    return [path for path in sorted(base_folder().iterdir()) if is_held(path)]


def find_running(name: str = "") -> Path:
    """The company with this name. Without one, the only company that nobody else will end."""
    found = {path.name: path for path in running()}
    if name and name not in found:
        raise UnknownName("company", name, found)
    if not name:
        found = {one: path for one, path in found.items() if not read_facts(path).get("owned")}
    if not found:
        raise BadInput("no live company is running; start one with: chaosops live up")
    if not name and len(found) > 1:
        raise BadInput(f"several companies are running; name one of: {', '.join(found)}")
    return found[name] if name else next(iter(found.values()))


def sweep() -> list[str]:
    """Remove folders whose company is gone, and say which."""
    removed = []
    for path in list(base_folder().iterdir()):
        if _is_left(path):
            remove(path)
            removed.append(path.name)
    return removed


def _is_left(path: Path) -> bool:
    try:
        age_s = time.time() - path.stat().st_mtime
    except OSError:  # somebody else has removed it
        return False
    was_locked = (path / _LOCK).exists()  # asked first: its company may lock it at any moment
    return (was_locked or age_s > _UNLOCKED_S) and not is_held(path)


def remove(folder: Path) -> None:
    _remove_shared_memory(folder)
    shutil.rmtree(folder, ignore_errors=True)


def write_facts(folder: Path, facts: dict[str, object]) -> None:
    (folder / "company.json").write_text(json.dumps(facts), encoding="utf-8")


def read_facts(folder: Path) -> dict[str, object]:
    try:
        facts: dict[str, object] = json.loads((folder / "company.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return facts


def _remove_shared_memory(folder: Path) -> None:
    """PostgreSQL keeps a small segment of System V memory, and writes its number in a file. The
    kernel does not free it when PostgreSQL is killed. The number of an old file may name the
    segment of another process by now: it stays, and so does one that is in use."""
    with suppress(OSError, IndexError, ValueError):
        lines = (folder / "pg" / "data" / "postmaster.pid").read_text().splitlines()
        server, identifier = int(lines[0]), int(lines[6].split()[1])
        until = time.monotonic() + _DETACHED_S
        while attached := _attached(identifier, server):
            if time.monotonic() > until:
                return
            time.sleep(0.02)
        if attached == 0:
            _forget_shared_memory(identifier)


def _attached(identifier: int, creator: int) -> int | None:
    """How many processes use a segment. None if this process did not make such a segment."""
    for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
        _, number, _, _, made_by, _, count, *_ = line.split()
        if int(number) == identifier:
            return int(count) if int(made_by) == creator else None
    return None


def _forget_shared_memory(identifier: int) -> None:
    import ctypes

    ctypes.CDLL(None).shmctl(identifier, 0, None)  # IPC_RMID
