"""What size buys: the same recipe on bases of two sizes, on every split.

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
    """Of each split, size and tier."""
    rows, made = [], {}
    for split in SPLITS:
        manifest, _ = read_results(folder / split)
        made = {name: manifest[name] for name in ("version", "commit", "packs")}
        for row in read_object(folder / split / MONITOR, "monitor figures")["summary"]:
            (size,) = (size for run, size in SIZES.items() if run in row["policy"])
            rows.append({"split": split, "size": size, **{name: row[name] for name in _KEPT}})
    return {**made, "rows": rows}


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


if __name__ == "__main__":
    source, *out = map(Path, sys.argv[1:])
    if source.is_dir():
        found = figures(source)
        for path in out:
            write_text(path, json.dumps(found, indent=1) + "\n")
    else:
        found = read_object(source, "figures")
    print(table(found["rows"]))
