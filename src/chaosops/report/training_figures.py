"""A training run as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.report.figures import COLOURS, require_matplotlib, save_figure
from chaosops.report.metric_rows import CURVES, read_rows

LINE_STYLES = ("-", "--", ":")  # one for each pack
_MEMORY = 0.95  # of the running mean


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
    curves = sorted(_smooth(updates, kind).items())
    packs = list(dict.fromkeys(name.rpartition(" ")[0] for name, _ in curves))
    for name, points in curves:
        pack, _, role = name.rpartition(" ")
        dash = LINE_STYLES[packs.index(pack) % len(LINE_STYLES)]
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
