"""The stages of a training: each run starts from the adapter of another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

Run = TypeVar("Run")


class Begin(NamedTuple):
    """What a recipe says of it."""

    name: str
    start: str
    """The adapter: ``runs/NAME/adapter``, or ``runs/NAME-SEED/adapter``; empty for none."""

    def follows(self, name: str) -> bool:
        run = Path(self.start).parent.name
        return name in (run, run.rpartition("-")[0])


def by_start(runs: Iterable[Run], begin: Callable[[Run], Begin]) -> list[Run]:
    """Each after the one that it starts from. Otherwise their order stays.

    >>> one, two = Begin("one", ""), Begin("two", "runs/one-0/adapter")
    >>> [run.name for run in by_start([Begin("three", "runs/two/adapter"), two, one], lambda x: x)]
    ['one', 'two', 'three']
    """
    begins = [(run, begin(run)) for run in runs]

    def before(of: Begin) -> Begin | None:
        return next((one for _, one in begins if one != of and of.follows(one.name)), None)

    def place(of: Begin) -> int:
        count, earlier = 0, before(of)
        while earlier is not None and count < len(begins):  # recipes may name each other
            count, earlier = count + 1, before(earlier)
        return count

    return [run for run, _ in sorted(begins, key=lambda pair: place(pair[1]))]
