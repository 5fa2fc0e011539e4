"""The checks of reading of the model that ships, from the files in ``experiments/reading``: each is
what ``chaosops arena reading --json`` printed.
"""

from __future__ import annotations

from pathlib import Path

from chaosops.core.inputs import read_object
from chaosops.evaluation.metrics import shown
from chaosops.report.tables import aligned

FOLDER = "experiments/reading"
NOT_YET = "Not measured yet."
_SHARE = "{:.0%}".format


def reading(root: Path) -> str:
    """A row for each check and role, a column for each split."""
    found = [read_object(path, "reading checks") for path in sorted((root / FOLDER).glob("*.json"))]
    if not found:
        return NOT_YET
    splits = [f"`{one['split']}`" for one in found]
    rows = []
    for same in zip(*(one["checks"] for one in found), strict=True):
        kinds = {(row["check"], row["role"]) for row in same}
        assert len(kinds) == 1, "all files have the same checks"
        shares = [f"{shown(row['follows'], _SHARE)} of {row['right_before']}" for row in same]
        rows.append([*kinds.pop(), *shares])
    made = {f"commit {one['commit'][:7]}, tier {one['tier']}" for one in found}
    count = {f"{one['companies']} companies a role" for one in found}
    told = "; ".join(sorted(count) + sorted(made))
    headers = ["check", "role", *(f"follows, {split}" for split in splits)]
    return f"{aligned(headers, rows, words=2)}\n\n{told[0].upper()}{told[1:]}."
