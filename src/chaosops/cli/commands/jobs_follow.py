"""``chaosops jobs follow``"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import Parameter
from rich.live import Live
from rich.table import Table
from rich.text import Text

from chaosops.cli.output import open_console, print
from chaosops.cli.progress import clock
from chaosops.hub import follow, jobs
from chaosops.hub.follow import Watched
from chaosops.hub.jobs import JobRef
from chaosops.report.tables import aligned

_TITLES = ("recipe", "job", "stage", "time", "last words")
_COLOURS = {"COMPLETED": "green", "RUNNING": "cyan", "ERROR": "red", "CANCELED": "yellow"}
Jobs = Annotated[list[str], Parameter(metavar="[OWNER/]ID")]
Namespace = Annotated[str, Parameter(help="whose jobs", show_default="yours")]


def execute(job: Jobs, /, *, namespace: Namespace = "") -> int:
    api, found = jobs.find_jobs(job, namespace)
    return follow_jobs(api, found, [])


def follow_jobs(api: Any, started: Sequence[JobRef], secrets: Sequence[str]) -> int:
    try:
        with _Screen() as screen:
            ended = follow.follow(api, started, screen.tell, secrets=secrets)
    except KeyboardInterrupt:
        say(jobs.what_goes_on(started))
        return 130
    print(aligned(_TITLES, [_cells(job) for job in ended], words=len(_TITLES)))
    for job in ended:
        if job.has_failed:
            print(f"\n{job.name} ended as {job.stage}. The end of its log:", file=sys.stderr)
            for line in job.lines or ["(it wrote nothing)"]:
                print(f"  {line}", file=sys.stderr)
    return int(any(job.has_failed for job in ended))


class _Screen:
    """A table that changes on a terminal; elsewhere a line for everything that is new."""

    def __init__(self) -> None:
        console = open_console(stderr=True)
        self._live = Live(console=console, transient=True) if console.is_terminal else None
        self._told: dict[str, str] = {}

    def __enter__(self) -> _Screen:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def tell(self, watched: Sequence[Watched]) -> None:
        if self._live:
            self._live.update(_table(watched), refresh=True)
            return
        for job in watched:
            text = f"{job.name}: {job.stage} {job.last_words}".rstrip()
            if self._told.get(job.ref.id) != text:
                self._told[job.ref.id] = text
                say(text)


def _table(watched: Sequence[Watched]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in _TITLES:
        table.add_column(title, no_wrap=True)
    for job in watched:
        name, ref, stage, spent, words = _cells(job)
        table.add_row(Text(name), ref, Text(stage, _COLOURS.get(stage, "")), spent, Text(words))
    return table


def _cells(job: Watched) -> list[str]:
    return [
        job.name,
        str(job.ref),
        job.stage,
        "" if job.seconds is None else clock(job.seconds),
        job.last_words[:100],
    ]


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
