"""One picture of the live comparison: what each policy reached in running companies, and in the
simulator on the same plots.

    python experiments/draw_live.py [OUT.png [COMPARE.json ...]]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.evaluation.live_comparison import COUNTS, SIMULATED, comparisons
from chaosops.report import figures

ROOT = Path(__file__).parents[1]
OUT, FOLDER = ROOT / "docs/assets/live.png", ROOT / "experiments/live"
SIDES = {"live": ("running company", figures.COLOURS[1]), SIMULATED: ("simulator", figures.GREY)}
PANELS = [count for count in COUNTS if count.is_share and count.key != "cause_named"]
APART = 0.12  # of a row: the two sides lie above each other


def live_picture(records: Sequence[Mapping[str, Any]], path: Path) -> Path:
    """A row for each policy. A line is the 95 % interval."""
    rows = {name: told for record in records for name, _, told in comparisons(record)}
    if not rows:
        raise BadInput("nothing was compared; chaosops live compare does so")
    names = list(reversed(rows))
    figure, axes = figures.new_canvas(10.2, 1.3 + 0.55 * len(rows), 1, len(PANELS))
    for axis, count in zip(axes, PANELS, strict=True):
        for up, (side, (title, colour)) in zip((APART, -APART), SIDES.items(), strict=True):
            for at, told in enumerate(rows.values()):
                found = told[side][count.key]
                if found["value"] is None:
                    continue
                y = len(rows) - 1 - at + up
                axis.plot([100 * end for end in found["ci95"]], [y, y], color=colour, linewidth=2)
                axis.plot(100 * found["value"], y, "o", color=colour, label=title)
        axis.set_title(f"{count.title}, %", loc="left", fontsize=10)
        axis.set(xlim=(-3, 103), ylim=(-0.6, len(rows) - 0.4))
        axis.set_yticks(range(len(rows)), names if axis is axes[0] else [""] * len(rows))
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="x", color="#dddddd", linewidth=0.8)
        axis.set_axisbelow(True)
        axis.spines[["top", "right", "left"]].set_visible(False)
    figures.legend_below(figure, axes)
    return figures.save_figure(figure, path)


def main(words: list[str]) -> int:
    out = Path(words[0]) if words else OUT
    sources = list(map(Path, words[1:])) or sorted(FOLDER.glob("compare*.json"))
    try:
        if missing := [source for source in sources if not source.is_file()]:
            raise BadInput(f"there is no {missing[0]}; chaosops live compare writes one")
        print(live_picture([json.loads(one.read_text(encoding="utf-8")) for one in sources], out))
    except ChaosOpsError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
