"""The table of grpo_ablate.py, from the lines that its rows wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ENTROPY_AT = 100


def table(out: Path) -> str:
    """Rows that were cut off are shown as far as they came."""
    found = {file.stem: _lines(file) for file in sorted(out.glob("*.jsonl"))}
    first = ("match", "all", "none")
    names = [name for name in first if name in found] + [n for n in found if n not in first]
    judged = list(
        dict.fromkeys(row["judged"] for rows in found.values() for row in rows if "judged" in row)
    )
    head = ["row", "updates", "state tokens", "seconds", f"entropy at {ENTROPY_AT}", "own noop"]
    head += [
        "unreadable",
        "share of best, unseen states",
        *(f"{name}: reward (solved)" for name in judged),
    ]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(_cells(name, found[name], judged)) + " |" for name in names]
    return "\n".join(lines)


def _lines(file: Path) -> list[dict[str, Any]]:
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:  # a kill in the middle of a line
            break
    return found


def _cells(name: str, rows: Sequence[Mapping[str, Any]], judged: Sequence[str]) -> list[str]:
    updates = [row for row in rows if "step" in row]
    played = {row["judged"]: row for row in rows if "judged" in row}
    looks = [row["share_of_best"] for row in updates if "share_of_best" in row]
    if not updates:
        return [name.replace("_", " "), "0", *[""] * (6 + len(judged))]
    last, late = updates[-1], updates[-10:]
    at = next((row for row in updates if row["step"] == ENTROPY_AT), None)
    return [
        name.replace("_", " "),
        str(last["step"]),
        f"{last['tokens']:,}",
        f"{last['seconds']:.0f}",
        f"{at['entropy']:.2f}" if at else "",
        _share(late, "noop"),
        _share(late, "unreadable"),
        " ".join(f"{look:.2f}" for look in looks),
        *(_result(played.get(each)) for each in judged),
    ]


def _share(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    found = [row[name] for row in rows if row.get(name) is not None]
    return f"{sum(found) / len(found):.0%}" if found else ""


def _result(row: Mapping[str, Any] | None) -> str:
    return f"{row['reward']:+.0f} ({row['solved']:.0%})" if row else ""
