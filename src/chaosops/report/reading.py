"""The checks of reading as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chaosops.evaluation.metrics import MISSING, shown
from chaosops.report.tables import aligned

_HEADERS = ("check", "role", "asked", "right before", "follows", "stays", "else", "suspicion")
_NOTES = (
    "follows, stays, else: shares of the turns that were right before, with 95 % intervals",
    "follows: the right answer after the change; with a page taken out, to look, talk or wait",
    "stays: the answer from before the change; with letters swapped, its letter",
)


def reading_lines(figures: Mapping[str, Any]) -> Iterator[str]:
    place = f"{figures['split']} {figures['tier']}, {figures['companies']} companies a role"
    yield f"{figures['policy']} on {place}: do its answers follow the documents?"
    yield aligned(_HEADERS, [_cells(row) for row in figures["checks"]])
    yield from _NOTES
    yield from lost_lines(figures["checks"])


def lost_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if lost := sum(row["failed"] for row in rows):
        yield f"WARNING: in {lost} cases the model could not answer; they are in no share"


def _cells(row: Mapping[str, Any]) -> list[str]:
    shares = [shown(row[name], "{:.0%}".format) for name in ("follows", "stays", "else")]
    counts = [str(row[name]) for name in ("asked", "right_before")]
    return [row["check"], row["role"], *counts, *shares, _suspicion(row)]


def _suspicion(row: Mapping[str, Any]) -> str:
    before, after = row["suspicion_before"], row["suspicion_after"]
    return MISSING if before is None or after is None else f"{before:.2f} → {after:.2f}"
