"""Evaluations and training runs for the page, read once and again when a file has changed."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from chaosops.core.errors import BadInput
from chaosops.web import evaluations, training_runs
from chaosops.web.evaluations import FIGURES, RESULTS, Folder, folders_with
from chaosops.web.pages import Document

FRESH_S = 1.0  # files are checked for changes at most this often
_REMEMBERED = 256
_READ = (*RESULTS, "summary.json", "monitor.json", "table.md", "metrics.jsonl", "recipe.toml")

Found = dict[str, Any]
Stamp = tuple[tuple[int, int, int] | None, ...]


class CachedList:
    """The reports in all folders that hold one of the files ``names``."""

    def __init__(
        self,
        among: Callable[[], Sequence[Path]],
        names: Sequence[str],
        read: Callable[[Folder], Found],
    ) -> None:
        self.folders: list[Folder] = []
        self._among = among
        self._names = names
        self._read = read
        self._by_folder: dict[Path, tuple[Stamp, Found]] = {}
        self._file: Document | None = None
        self._looked_at = 0.0
        self._lock = asyncio.Lock()

    async def file(self, write: Callable[[list[Found]], Found]) -> Document:
        async with self._lock:  # one request reads, the others wait
            if self._file is None or time.monotonic() - self._looked_at > FRESH_S:
                self._file = await run_in_threadpool(self._look, write)
                self._looked_at = time.monotonic()
            return self._file

    def _look(self, write: Callable[[list[Found]], Found]) -> Document:
        before = self._by_folder
        self.folders = folders_with(self._names, self._among())[:_REMEMBERED]
        self._by_folder = {folder.path: self._look_at(folder) for folder in self.folders}
        unchanged = list(before.items()) == list(self._by_folder.items())
        if unchanged and self._file is not None:
            return self._file
        content = write([found for _, found in self._by_folder.values()])
        return Document("application/json", json.dumps(content, separators=(",", ":")).encode())

    def _look_at(self, folder: Folder) -> tuple[Stamp, Found]:
        stamp = stamp_of(folder.path)
        known = self._by_folder.get(folder.path)
        if known is not None and known[0] == stamp:
            return known
        return stamp, self._read(folder)


def stamp_of(folder: Path) -> Stamp:
    """Changes with every file that is read or shown."""
    return tuple(_stamp(folder / name) for name in (*_READ, *FIGURES))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        told = path.stat()
    except OSError:
        return None
    return told.st_mtime_ns, told.st_size, told.st_ino


class ReportCache:
    def __init__(self, results: Sequence[Path] | None) -> None:
        def among() -> Sequence[Path]:
            return evaluations.results_folders() if results is None else results

        self._evaluations = CachedList(among, RESULTS, evaluations.read_evaluation)
        self._runs = CachedList(among, [training_runs.METRICS], training_runs.read_run)

    async def evaluations(self) -> Document:
        return await self._evaluations.file(
            lambda found: {
                "evaluations": evaluations.in_order(found),
                "variable": evaluations.VARIABLE,
            }
        )

    async def runs(self) -> Document:
        return await self._runs.file(
            lambda found: {"runs": found, "variable": evaluations.VARIABLE}
        )

    async def figure(self, key: str, name: str) -> Path:
        """The path of a figure in a folder with an evaluation or a run."""
        await self.evaluations()
        await self.runs()
        both: Iterable[Folder] = (*self._evaluations.folders, *self._runs.folders)
        for folder in both:
            if folder.key == key and name in FIGURES and (folder.path / name).is_file():
                return folder.path / name
        raise BadInput(f"no such figure; there may be: {', '.join(FIGURES)}")
