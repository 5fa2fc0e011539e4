"""A training run as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.evaluation.metrics import metric
from chaosops.report.figures import COLOURS, require_matplotlib, save_figure
from chaosops.report.metric_rows import CURVES, read_rows

_MEMORY = 0.95  # of the running mean

_STAGE_FIGURES = {key: metric(key).title for key in ("mean_reward", "false_flag_rate")}
# Runs of earlier versions recorded it after the last turn.
_AUROCS = {
    "auroc_turn_3": "AUROC of suspicion, turn 3",
    "auroc": "AUROC of suspicion, last turn",
}


def read_metrics(path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(updates, validations) of a run."""
    rows = read_rows(path)
    updates = [row for row in rows if "validation" not in row]
    return updates, [row for row in rows if "validation" in row]


def learning_curve(metrics: Path, path: Path) -> Path:
    """Above, the regret of each role's likeliest action, or with TRL the mean reward of its
    replies; below, validation by tier. The background shows the main tier of each batch."""
    require_matplotlib()
    import matplotlib.pyplot as plt

    updates, validations = read_metrics(metrics)
    if not updates:
        raise BadInput(f"{metrics} holds no update: there is no curve to draw")
    figure, (lost, gained) = plt.subplots(
        2, 1, figsize=(8, 7), dpi=130, layout="constrained", sharex=True
    )
    _mark_tiers(lost, updates)
    kind = next(kind for kind in CURVES if kind in updates[0])
    for name, points in sorted(_smooth(updates, kind).items()):
        pack, _, role = name.rpartition(" ")
        dash = "--" if pack == "classic" else "-"
        colour = COLOURS[list(Role).index(Role(role))]
        lost.plot(*zip(*points, strict=True), dash, color=colour, label=name)
    lost.set_ylabel(CURVES[kind])
    if kind == "regret":
        lost.set_yscale("symlog", linthresh=1)
    lost.legend(fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    tiers = list(validations[-1]["validation"]) if validations else []
    for colour, tier in zip(COLOURS, tiers, strict=False):
        seen = [row for row in validations if tier in row["validation"]]
        steps = [row["step"] for row in seen]
        rewards = [row["validation"][tier]["mean_reward"] for row in seen]
        gained.plot(steps, rewards, "o-", color=colour, label=tier)
    gained.set_ylabel("mean reward, validation")
    gained.set_xlabel("updates")
    if tiers:
        gained.legend(fontsize=8)
    else:
        gained.text(0.5, 0.5, "not validated", transform=gained.transAxes, ha="center")
    return save_figure(figure, path)


def stages_curve(seeds: Mapping[str, Sequence[Path]], path: Path) -> Path:
    """Validation over runs that follow each other, one line a training seed and tier."""
    require_matplotlib()
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 1, figsize=(8, 9), dpi=130, layout="constrained", sharex=True)
    for dash, (name, files) in zip(("o-", "s--", "^:"), seeds.items(), strict=False):
        rows: list[tuple[int, dict[str, Any]]] = []
        began = 0
        for metrics in files:
            for row in read_metrics(metrics)[1]:
                # What a stage starts from, the stage before it ended with.
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
    """The AUROC that every stage recorded: a line must not change its meaning half-way."""
    for name, label in _AUROCS.items():
        if all(name in found for by_tier in validations for found in by_tier.values()):
            return {name: label}
    raise BadInput("the stages recorded their AUROC after different turns; draw them apart")


def _smooth(updates: list[dict[str, Any]], kind: str) -> dict[str, list[tuple[int, float]]]:
    curves: dict[str, list[tuple[int, float]]] = {}
    for row in updates:
        for name, value in row[kind].items():
            curve = curves.setdefault(name, [])
            before = curve[-1][1] if curve else value
            curve.append((row["step"], _MEMORY * before + (1 - _MEMORY) * value))
    return curves


def _mark_tiers(axes: Any, updates: list[dict[str, Any]]) -> None:
    shades = {"easy": "#f4f8fb", "medium": "#e3edf5", "hard": "#cfe0ee"}
    for row in updates:
        most = max(row["tiers"], key=row["tiers"].__getitem__)
        axes.axvspan(row["step"] - 1, row["step"], color=shades[most], linewidth=0)
