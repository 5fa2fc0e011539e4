"""The stages of a training: each run starts from the adapter of another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

Run = TypeVar("Run")


class Origin(NamedTuple):
    """The name of a run, and the adapter that it starts from."""

    name: str
    start: str
    """``runs/NAME/adapter``, or ``runs/NAME-SEED/adapter``; empty for none."""


def in_stage_order(runs: Iterable[Run], origin: Callable[[Run], Origin]) -> list[Run]:
    """Each after the one that it starts from. Otherwise their order stays.

    >>> one, two = Origin("one", ""), Origin("two", "runs/one-0/adapter")
    >>> three = Origin("three", "runs/two/adapter")
    >>> [run.name for run in in_stage_order([three, two, one], lambda run: run)]
    ['one', 'two', 'three']
    """
    origins = [(run, origin(run)) for run in runs]
    named = {of.name: of for _, of in origins if of.name}

    def predecessor(of: Origin) -> Origin | None:
        run = Path(of.start).parent.name
        found = named.get(run) or named.get(run.rpartition("-")[0])
        return None if found == of else found

    def depth(of: Origin) -> int:
        count, earlier = 0, predecessor(of)
        while earlier is not None and count < len(origins):  # recipes may name each other
            count, earlier = count + 1, predecessor(earlier)
        return count

    return [run for run, _ in sorted(origins, key=lambda pair: depth(pair[1]))]
