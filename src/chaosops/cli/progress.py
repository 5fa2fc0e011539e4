"""How far long work is: a bar on a terminal, elsewhere a line on stderr every few seconds."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from chaosops.cli.output import open_console, print

if TYPE_CHECKING:
    from rich.console import Console

EVERY_S = 5.0


@dataclass
class _Task:
    """``total`` is None where the end is not known."""

    done: float = 0
    total: float | None = None
    note: str = ""
    began: float = field(default_factory=time.monotonic)
    first: float | None = None  # how much was done when counting began

    def in_words(self, unit: str) -> str:
        spent = time.monotonic() - self.began
        words = []
        if self.total is not None:
            words.append(f"{self.done:,.0f} of {self.total:,.0f} {unit}")
        words.append(f"{clock(spent)} so far")
        gained = self.done - (self.first or 0)
        if self.total is not None and gained > 0:
            left = clock((self.total - self.done) * spent / gained)
            words += [f"{gained / spent:.3g}/s", f"{left} left"]
        return ", ".join([*words, self.note] if self.note else words)


def clock(seconds: float) -> str:
    """
    >>> clock(3725), clock(59.6)
    ('1:02:05', '1:00')
    """
    whole = round(seconds)
    hours = f"{whole // 3600}:{whole // 60 % 60:02}" if whole >= 3600 else f"{whole // 60}"
    return f"{hours}:{whole % 60:02}"


class Progress:
    """Several tasks, one after the other. All of it goes to stderr; stdout stays the result."""

    def __init__(self, unit: str = "episodes") -> None:
        self._unit = unit
        self._tasks: dict[str, _Task] = {}
        self._current = ""
        self._stopped = threading.Event()
        self._ids: dict[str, TaskID] = {}
        console = open_console(stderr=True)
        self._bar = _bar(console) if console.is_terminal else None
        self._lines = threading.Thread(target=self._print_lines, daemon=True)

    def __enter__(self) -> Progress:
        if self._bar:
            self._bar.start()
        else:
            self._lines.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        if self._bar:
            self._bar.stop()
        else:
            self._lines.join()

    def update(self, name: str, done: float, total: float | None, note: str = "") -> None:
        task = self._tasks.setdefault(name, _Task())
        if task.first is None and total is not None:
            task.first, task.began = done, time.monotonic()
        task.done, task.total, task.note = done, total, note
        before, self._current = self._current, name
        if self._bar:
            if before != name and before in self._ids and self._tasks[before].total is None:
                self._bar.update(self._ids[before], visible=False)
            if name not in self._ids:
                self._ids[name] = self._bar.add_task(name, total=total, note="")
            self._bar.update(self._ids[name], completed=done, total=total, note=note)

    def say(self, line: str) -> None:
        """A line that stays."""
        if self._bar:
            self._bar.console.print(line, highlight=False, markup=False)
        else:
            print(line, file=sys.stderr, flush=True)

    def _print_lines(self) -> None:
        while not self._stopped.wait(EVERY_S):
            if task := self._tasks.get(self._current):
                self.say(f"{self._current}: {task.in_words(self._unit)}")


def _bar(console: Console) -> Bar:
    return Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[note]}", markup=False),
        console=console,
        transient=True,
        redirect_stdout=False,  # it would follow the bar to stderr
    )
