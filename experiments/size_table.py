"""Two sizes of the base: the same recipe on both, on every split.

    python experiments/size_table.py FOLDER [OUT.json]     # evaluations of both adapters, by split
    python experiments/size_table.py experiments/size/figures.json

A folder of evaluations, each named after its split, becomes ``OUT.json``. The table is printed.
The adapters are told apart by the names of their runs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.files import write_text
from chaosops.core.inputs import read_object
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.results import MONITOR
from chaosops.evaluation.stored import read_results
from chaosops.report.tables import aligned

SIZES = {"size_135m": "135M", "size_500m": "0.5B"}
SPLITS = (
    *("test", "ood_names", "ood_mechanism", "ood_vocabulary", "ood_wording", "ood_rogue"),
    *("ood_scale", "ood_shape", "reserve"),
)
_FLAGS = "innocent_agents_flagged_per_benign_episode"
_KEPT = (
    *("tier", "episodes", "rogue_episodes", "reward", "solved", "rogue_caught", _FLAGS),
    *("auroc_turn_1", "auroc_turn_3"),
)
_COLUMNS = ("split", "base", "reward", "solved", "caught", "false flags", "AUROC, turn 3")


def figures(folder: Path) -> dict[str, Any]:
    """How the evaluations were made, and a row for each split, size and tier."""
    rows: list[dict[str, Any]] = []
    made: dict[str, Any] = {}
    for split in SPLITS:
        manifest, _ = read_results(folder / split)
        mine = {name: manifest[name] for name in ("version", "commit", "packs")}
        if (made := made or mine) != mine:
            raise BadInput(f"{folder / split} was made by another version than the others")
        for row in read_object(folder / split / MONITOR, "monitor figures")["summary"]:
            size = size_of(row["policy"])
            rows.append({"split": split, "size": size, **{name: row[name] for name in _KEPT}})
    return {**made, "rows": rows}


def size_of(policy: str) -> str:
    found = [size for run, size in SIZES.items() if run in policy]
    if len(found) != 1:
        raise BadInput(f"{policy} has no adapter of {' or '.join(SIZES)}")
    return found[0]


def table(rows: Sequence[dict[str, Any]]) -> str:
    """A row for each split and size, easy / medium / hard."""
    written = []
    for split in SPLITS:
        for size in SIZES.values():
            mine = {r["tier"]: r for r in rows if (r["split"], r["size"]) == (split, size)}
            tiers = [mine[tier] for tier in Tier]
            cells = (
                [f"{_value(row['reward']):+.0f}" for row in tiers],
                [f"{_value(row['solved']):.0%}" for row in tiers],
                [f"{_value(row['rogue_caught']):.0%}" for row in tiers[1:]],
                [f"{_value(row[_FLAGS]):.2f}" for row in tiers[1:]],
                [f"{_value(row['auroc_turn_3']):.2f}" for row in tiers[1:]],
            )
            written.append([split, size, *(" / ".join(cell) for cell in cells)])
    return aligned(_COLUMNS, written)


def _value(figure: Any) -> float:
    return float(figure["value"] if isinstance(figure, dict) else figure)


def main(source: Path, out: Path | None = None) -> None:
    found = figures(source) if source.is_dir() else read_object(source, "figures")
    if out:
        write_text(out, json.dumps(found, indent=1) + "\n")
    print(table(found["rows"]))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python experiments/size_table.py FOLDER [OUT.json]")
    try:
        main(*map(Path, sys.argv[1:]))
    except ChaosOpsError as error:
        sys.exit(f"size_table.py: {error}")
