"""The progress of long work: a bar on a terminal, otherwise a line on stderr every few seconds."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from datetime import timedelta

from rich.progress import BarColumn, MofNCompleteColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from chaosops.cli.output import note, open_console
from chaosops.workers import Tally

EVERY_S = 5.0
_NAMED = 8  # workers that have a place of their own in a line


class Progress:
    """Several tasks, one after the other. All output goes to stderr: stdout is for the result."""

    def __init__(self, unit: str = "episodes") -> None:
        self._unit = unit
        self._tasks: dict[str, Task] = {}
        self._current: Task | None = None
        self._stopped = threading.Event()
        self._lines = threading.Thread(target=self._print_lines, daemon=True)
        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
            TextColumn("{task.fields[detail]}", markup=False),
            console=open_console(stderr=True),
            transient=True,
            redirect_stdout=False,  # Rich would send it to stderr with the bar
            speed_estimate_period=3600,  # an episode of a large model takes minutes
        )
        self._on_terminal = self._bar.console.is_terminal

    def __enter__(self) -> Progress:
        if self._on_terminal:
            self._bar.start()
        else:
            self._lines.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        if self._on_terminal:
            self._bar.stop()
        else:
            self._lines.join()

    def update(self, name: str, done: float, total: float | None, detail: str = "") -> None:
        """``total`` is None if the end is not known."""
        if name not in self._tasks:
            self._bar.add_task(name, total=total, detail="")
            self._tasks[name] = self._bar.tasks[-1]
        if self._current and self._current.total is None:
            self._bar.update(self._current.id, visible=False)
        self._current = task = self._tasks[name]
        self._bar.update(task.id, completed=done, total=total, detail=detail, visible=True)

    def say(self, line: str) -> None:
        """Print a line that stays on the screen."""
        if self._on_terminal:
            self._bar.console.print(line, highlight=False, markup=False)
        else:
            note(line)

    def _print_lines(self) -> None:
        while not self._stopped.wait(EVERY_S):
            if self._current:
                note(f"{self._current.description}: {self._in_words(self._current)}")

    def _in_words(self, task: Task) -> str:
        words = [f"{_clock(task.elapsed or 0)} so far"]
        if task.total is not None:
            words.insert(0, f"{task.completed:,.0f} of {task.total:,.0f} {self._unit}")
        if task.speed and task.time_remaining is not None:
            speed = f"{task.speed:,.0f}" if task.speed >= 100 else f"{task.speed:.3g}"
            words += [f"{speed}/s", f"{_clock(task.time_remaining)} left"]
        return ", ".join(filter(None, [*words, task.fields["detail"]]))


def worker_words(tallies: Sequence[Tally]) -> Iterator[str]:
    """What each worker has done.

    >>> list(worker_words([Tally(items=61), Tally(items=48, restarts=1)]))
    ['worker 1: 61', 'worker 2: 48 (started again)']
    >>> list(worker_words([Tally(items=61)] * 63 + [Tally(items=48)]))
    ['64 workers: 48 to 61 each']
    """
    if len(tallies) > _NAMED:
        done = [tally.items for tally in tallies]
        lost = sum(tally.restarts for tally in tallies)
        again = f" ({lost} started again)" if lost else ""
        yield f"{len(tallies)} workers: {min(done)} to {max(done)} each{again}"
        return
    for number, tally in enumerate(tallies, 1):
        yield f"worker {number}: {tally.items}" + (" (started again)" if tally.restarts else "")


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
