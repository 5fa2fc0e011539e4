"""One picture of several training seeds over their stages.

    python experiments/draw_stages.py OUT.png RUN/metrics.jsonl,NEXT/metrics.jsonl ...

Each argument is one seed: its stages in order.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from chaosops.core.errors import BadInput
from chaosops.evaluation.metrics import metric
from chaosops.report.figures import COLOURS, save_figure
from chaosops.report.training_figures import read_metrics

_STAGE_FIGURES = {key: metric(key).title for key in ("mean_reward", "false_flag_rate")}
# Runs of earlier versions recorded it after the last turn.
_AUROCS = {
    "auroc_turn_3": "AUROC of suspicion, turn 3",
    "auroc": "AUROC of suspicion, last turn",
}


def stages_curve(seeds: Mapping[str, Sequence[Path]], path: Path) -> Path:
    """Validation over runs that follow each other, one line a training seed and tier."""
    figure, axes = plt.subplots(3, 1, figsize=(8, 9), dpi=130, layout="constrained", sharex=True)
    for dash, (name, files) in zip(("o-", "s--", "^:"), seeds.items(), strict=False):
        rows: list[tuple[int, dict[str, Any]]] = []
        began = 0
        for metrics in files:
            for row in read_metrics(metrics)[1]:
                # A stage starts with the values at the end of the stage before it.
                if row["step"] or not rows:
                    rows.append((began + row["step"], row["validation"]))
            began = rows[-1][0]
            for axis in axes:
                axis.axvline(began, color="#b8c2cc", linewidth=1, zorder=0)
        shown = {**_STAGE_FIGURES, **_auroc_of([found for _, found in rows])}
        for axis, (figure_of, label) in zip(axes, shown.items(), strict=True):
            for colour, tier in zip(COLOURS, rows[-1][1], strict=False):
                points = [(x, found[tier][figure_of]) for x, found in rows]
                known = [point for point in points if point[1] is not None]
                if known:
                    line = f"{tier}, {name}"
                    axis.plot(*zip(*known, strict=True), dash, color=colour, label=line)
            axis.set_ylabel(label)
    axes[0].set_yscale("symlog", linthresh=100)
    axes[0].legend(fontsize=8, ncols=len(seeds), frameon=False)
    axes[-1].set_xlabel("updates; lines mark the end of a stage")
    return save_figure(figure, path)


def _auroc_of(validations: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The AUROC that every stage recorded, so that a line has one meaning."""
    for name, label in _AUROCS.items():
        if all(name in found for by_tier in validations for found in by_tier.values()):
            return {name: label}
    raise BadInput("the stages recorded their AUROC after different turns; draw them apart")


if __name__ == "__main__":
    out, *runs = sys.argv[1:]
    seeds = {f"seed {i}": [Path(p) for p in text.split(",")] for i, text in enumerate(runs)}
    print(stages_curve(seeds, Path(out)))
