"""Run folders without a company: who may remove one, and what is removed with it."""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chaosops.live import folder as folders
from chaosops.live import janitor


@pytest.fixture(autouse=True)
def _folders_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def end_of_parent() -> Callable[[Path, Callable[[], None]], None]:
    """A janitor of a folder sees its parent end after so much was done."""

    def play(folder: Path, before: Callable[[], None]) -> None:
        reading, writing = os.pipe()
        pid = janitor.start(folder, reading, writing)
        before()
        os.close(writing)
        os.waitpid(pid, 0)

    return play


def test_the_janitor_removes_what_its_company_left(
    end_of_parent: Callable[[Path, Callable[[], None]], None],
) -> None:
    folder = folders.new_folder("one")
    end_of_parent(folder, (folder / "left").touch)
    assert not folder.exists()


def test_the_janitor_leaves_a_new_company_of_the_same_name(
    end_of_parent: Callable[[Path, Callable[[], None]], None],
) -> None:
    folder = folders.new_folder("one")

    def start_again() -> None:
        shutil.rmtree(folder)
        folders.new_folder("one")

    end_of_parent(folder, start_again)
    assert folder.exists()


def test_a_folder_that_is_locked_while_it_is_looked_at_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = folders.new_folder("one")
    locks: list[int] = []
    is_held = folders.is_held

    def held_a_moment_later(path: Path) -> bool:
        found = is_held(path)
        locks.append(folders.hold(path))
        return found

    monkeypatch.setattr(folders, "is_held", held_a_moment_later)
    assert folders.sweep() == []
    assert folder.exists()
    for lock in locks:
        os.close(lock)


def test_a_lock_is_never_there_and_free(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folders.new_folder("one")
    seen: list[bool] = []
    flock = fcntl.flock

    def look(descriptor: int, operation: int) -> None:
        seen.append((folder / "lock").exists())
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", look)
    lock = folders.hold(folder)
    monkeypatch.undo()
    assert seen == [False]
    assert folders.is_held(folder)
    assert [path.name for path in folder.iterdir()] == ["lock"]
    os.close(lock)


libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
libc.shmdt.argtypes = [ctypes.c_void_p]


@pytest.fixture
def segment() -> Iterator[int]:
    identifier = libc.shmget(0, 4096, 0o600)
    assert identifier >= 0
    yield identifier
    libc.shmctl(identifier, 0, None)


def is_there(segment: int) -> bool:
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return str(segment) in {line.split()[1] for line in lines}


def left_by(server: int, segment: int) -> Path:
    """The folder of a PostgreSQL that was killed."""
    folder = folders.new_folder()
    (folder / "pg" / "data").mkdir(parents=True)
    lines = [str(server), "", "", "", "", "", f"  5432001 {segment:9}", "ready   "]
    (folder / "pg" / "data" / "postmaster.pid").write_text("\n".join(lines) + "\n")
    return folder


def test_shared_memory_is_removed_unless_it_is_used(
    segment: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_DETACHED_S", 0.1)
    address = libc.shmat(segment, None, 0)
    folders.remove(left_by(os.getpid(), segment))
    # A segment that is marked as removed is there until it is detached.
    libc.shmdt(address)
    assert is_there(segment)
    folders.remove(left_by(os.getpid(), segment))
    assert not is_there(segment)


def test_shared_memory_of_another_process_stays(segment: int) -> None:
    """After a restart of the machine the number may be another one's."""
    folder = left_by(os.getpid() + 1, segment)
    folders.remove(folder)
    assert is_there(segment)
    assert not folder.exists()
