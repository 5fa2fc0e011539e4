"""Evaluations and training runs for the page, read once and again when a file has changed."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from chaosops.core.errors import BadInput
from chaosops.training.story import BASELINES, COMPANIES, STORY
from chaosops.web import evaluations, training_runs
from chaosops.web.evaluations import FIGURES, RESULTS, Folder, Read, folders_with
from chaosops.web.pages import Document

WARM_S = 5.0  # after the first page was asked for, when that page is there
FRESH_S = 1.0  # files are checked for changes at most this often
_MOST_FOLDERS = 256
_READ = (
    *RESULTS,
    "summary.json",
    "monitor.json",
    "table.md",
    "metrics.jsonl",
    "recipe.toml",
    BASELINES,
    COMPANIES,
    STORY,
)

Stamp = list[tuple[str, int, int, int]]


class CachedReports:
    """The reports in all folders that hold one of the files ``names``, as the list ``title`` of a
    document."""

    def __init__(
        self,
        results: Sequence[Path] | None,
        title: str,
        names: Sequence[str],
        read: Callable[[Folder], Read],
        order: Callable[[Iterable[Read]], list[Read]],
    ) -> None:
        self.folders: list[Folder] = []
        self._results = results
        self._title = title
        self._names = names
        self._read = read
        self._order = order
        self._by_folder: dict[Path, tuple[Stamp, Read]] = {}
        self._document: Document | None = None
        self._checked_at = 0.0
        self._lock = asyncio.Lock()

    async def document(self) -> Document:
        async with self._lock:  # one request reads, the others wait
            if self._document is None or time.monotonic() - self._checked_at > FRESH_S:
                self._document = await run_in_threadpool(self._update)
                self._checked_at = time.monotonic()
            return self._document

    def _update(self) -> Document:
        among = evaluations.results_folders() if self._results is None else self._results
        self.folders = folders_with(self._names, among)[:_MOST_FOLDERS]
        before = self._by_folder
        self._by_folder = {folder.path: self._report(folder) for folder in self.folders}
        if self._document is not None and [*before.items()] == [*self._by_folder.items()]:
            return self._document
        reports = [read.report for read in self.in_order()]
        content = {self._title: reports, "variable": evaluations.VARIABLE}
        return Document("application/json", json.dumps(content, separators=(",", ":")).encode())

    def in_order(self) -> list[Read]:
        return self._order(read for _, read in self._by_folder.values())

    def _report(self, folder: Folder) -> tuple[Stamp, Read]:
        stamp = _stamp(folder.path)
        known = self._by_folder.get(folder.path)
        return known if known and known[0] == stamp else (stamp, self._read(folder))


def _stamp(folder: Path) -> Stamp:
    """Changes with every file that is read or shown."""
    stamp = []
    for name in (*_READ, *FIGURES):
        try:
            found = (folder / name).stat()
        except OSError:
            continue
        stamp.append((name, found.st_mtime_ns, found.st_size, found.st_ino))
    return stamp


def by_split(reads: Iterable[Read]) -> list[Read]:
    return sorted(reads, key=_place)


def _place(read: Read) -> int:
    """Unseen companies first, then the rest, then other distributions, then unreadable folders."""
    if "error" in read.report:
        return 3
    splits = read.report["manifest"]["splits"] if "manifest" in read.report else []
    return 0 if splits == ["test"] else 2 if any("ood" in split for split in splits) else 1


class ReportCache:
    def __init__(self, results: Sequence[Path] | None) -> None:
        self.evaluations = CachedReports(
            results, "evaluations", RESULTS, evaluations.read_evaluation, by_split
        )
        self._warming: asyncio.Task[None] | None = None
        names = [training_runs.METRICS]
        self.runs = CachedReports(
            results, "runs", names, training_runs.read_run, training_runs.by_stage
        )

    def warm_soon(self) -> None:
        """Read the evaluations in advance: many of them take seconds, and who looks at one page
        may look at the results next."""
        if self._warming is None:
            self._warming = asyncio.get_running_loop().create_task(self._warm())

    async def _warm(self) -> None:
        await asyncio.sleep(WARM_S)
        await self.evaluations.document()

    async def folder(self, key: str) -> Folder:
        """The folder of an evaluation or a run."""
        for reports in (self.evaluations, self.runs):
            await reports.document()
            for folder in reports.folders:
                if folder.key == key:
                    return folder
        raise BadInput("no such evaluation or training run; the pages list those that there are")

    async def figure(self, key: str, name: str) -> Path:
        """The path of a figure in a folder with an evaluation or a run."""
        for reports in (self.evaluations, self.runs):
            await reports.document()
            for folder in reports.folders:
                if folder.key == key and name in FIGURES and (folder.path / name).is_file():
                    return folder.path / name
        raise BadInput(f"no such figure; there may be: {', '.join(FIGURES)}")
