"""Validation over the updates of several runs, on words that were trained on and on the reserve's.

A run that learns to read does as well on both. The distance between them is what it learned by
heart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.metrics import metric
from chaosops.report import figures
from chaosops.report.training_figures import read_metrics

# By the key in a validation: the title, and the factor to its unit.
_PANELS = {
    "mean_reward": (metric("mean_reward").title, 1),
    "solved": ("incidents resolved, %", 100),
    "auroc_turn_3": ("AUROC of suspicion, turn 3", 1),
}
_SEEN, _RESERVE = "words of training", "words of the reserve"

Curve = dict[int, float]  # by update


def reading_curve(metrics: Sequence[Path], path: Path, tiers: Sequence[Tier] = tuple(Tier)) -> Path:
    """A thin line is a run, and a thick one the mean of all runs, where all were validated."""
    runs = [read_metrics(each)[1] for each in metrics]
    for each, rows in zip(metrics, runs, strict=True):
        if not any(_rows(row, _RESERVE, tiers) for row in rows):
            raise BadInput(
                f"{each} has no validation on a reserve, tier {' or '.join(tiers)}; "
                "train with reserve = 'reserve'"
            )
    validated = {name.rpartition(" ")[2] for of in runs for row in of for name in row["validation"]}
    tiers = [tier for tier in tiers if tier in validated]
    figure, axes = figures.canvas(len(_PANELS))
    figure.set_size_inches(4.0 * len(_PANELS), 3.9)
    for axis, (key, (title, factor)) in zip(axes, _PANELS.items(), strict=True):
        for number, words in enumerate((_SEEN, _RESERVE)):
            colour = figures.COLOURS[number]
            curves = [_curve(rows, words, key, tiers) for rows in runs]
            for curve in curves:
                y = [factor * value for value in curve.values()]
                axis.plot(list(curve), y, color=colour, linewidth=0.8, alpha=0.45)
            mean = _mean(curves)
            y = [factor * value for value in mean.values()]
            axis.plot(list(mean), y, color=colour, linewidth=2.4, label=words)
        axis.set_title(title, loc="left")
        axis.set_xlabel("updates")
    axes[1].set_ylim(-4, 104)
    axes[2].axhline(0.5, color=figures.GREY, linewidth=0.9, linestyle=(0, (4, 3)))
    drawn = "one run" if len(runs) == 1 else f"mean of {len(runs)} runs, and each of them"
    figures.legend_below(figure, axes, f"{_averaged(tiers)}; {drawn}")
    return figures.save_figure(figure, path)


def _averaged(tiers: Sequence[Tier]) -> str:
    return tiers[0] if len(tiers) == 1 else f"mean over {', '.join(tiers)}"


def _rows(row: Mapping[str, Any], words: str, tiers: Sequence[Tier]) -> list[Mapping[str, Any]]:
    """What one validation found on these words: ``hard``, or ``reserve hard``."""
    return [
        found
        for name, found in row["validation"].items()
        if (" " in name) is (words == _RESERVE) and name.rpartition(" ")[2] in tiers
    ]


def _curve(rows: Sequence[Mapping[str, Any]], words: str, key: str, tiers: Sequence[Tier]) -> Curve:
    """The mean over tiers. An AUROC needs rogues, which not every tier has."""
    curve = {}
    for row in rows:
        known = [found[key] for found in _rows(row, words, tiers) if found.get(key) is not None]
        if known:
            curve[row["step"]] = sum(known) / len(known)
    return curve


def _mean(curves: Sequence[Curve]) -> Curve:
    """A run that ended earlier would move the mean by leaving it, so the mean ends there."""
    shared = [step for step in curves[0] if all(step in curve for curve in curves)]
    return {step: sum(curve[step] for curve in curves) / len(curves) for step in shared}
