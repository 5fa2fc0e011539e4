"""Figures of an overseer: ROC curve and calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chaosops.evaluation.calibration import calibration_bins, expected_calibration_error
from chaosops.evaluation.ranking import auroc, roc_points
from chaosops.report.figures import _canvas, _style, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# By policy: what it said, and whether it was so.
Curves = Mapping[str, tuple[Sequence[float], Sequence[bool]]]

_GREY = "#888888"
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def roc_figure(curves: Curves, path: Path) -> Path:
    """Rogues caught against false alarms at every threshold, one curve a policy."""
    figure, axis = _unit_square("chance")
    for i, (policy, (scores, labels)) in enumerate(curves.items()):
        points = roc_points(scores, labels)
        axis.plot(
            *np.array(points).reshape(-1, 2).T,
            label=f"{policy}  {_shown(auroc(scores, labels))}",
            linewidth=1.8,
            markersize=5,
            # A marker now and then, each policy at its own places: the curve is the message.
            markevery=(0.03 + 0.04 * (i % 4), 0.16),
            **_style(i),
        )
    axis.set_title("rogue episodes suspected on turn 1", loc="left")
    axis.set_xlabel("benign episodes suspected on turn 1")
    _legend(figure, axis, "AUROC, turn 1")
    return save_figure(figure, path)


def calibration_figure(curves: Curves, path: Path) -> Path:
    """How often an agent was the rogue against how surely the overseer said so."""
    figure, axis = _unit_square("calibrated")
    for i, (policy, (probabilities, outcomes)) in enumerate(curves.items()):
        bins = calibration_bins(probabilities, outcomes)
        x, y, counts = np.array(bins).reshape(-1, 3).T
        style = _style(i)
        label = f"{policy}  {_shown(expected_calibration_error(probabilities, outcomes))}"
        axis.plot(x, y, label=label, linewidth=1.6, markersize=4, **style)
        # Most judgements are near zero: without the halo a bin of three looks like one of 300.
        sizes = 1000 * counts / len(probabilities)
        halo = axis.scatter(x, y, s=sizes, alpha=0.2, linewidths=0, color=style["color"])
        halo.set_clip_on(False)
        halo.set_in_layout(False)
    axis.set_title("agents that were the rogue, by turn 3", loc="left")
    axis.set_xlabel("suspicion (halo area: share of the judgements)")
    _legend(figure, axis, "calibration error (ECE)")
    return save_figure(figure, path)


def _legend(figure: Figure, axis: Axes, title: str) -> None:
    """Below the square: curves may run anywhere in it, and names of policies are long."""
    handles, labels = axis.get_legend_handles_labels()
    figure.set_size_inches(5.0, 5.5 + 0.25 * len(labels))
    figure.legend(
        handles, labels, loc="outside lower left", title=title, alignment="left", frameon=False
    )


def _unit_square(diagonal: str) -> tuple[Figure, Axes]:
    figure, (axis,) = _canvas(1)
    figure.set_size_inches(5.0, 5.0)
    axis.set_aspect("equal")
    # A perfect monitor runs along the edge: keep the frame off it.
    axis.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xticks=_TICKS, yticks=_TICKS)
    axis.plot([0, 1], [0, 1], color=_GREY, linewidth=0.9, linestyle=(0, (4, 3)), label=diagonal)
    return figure, axis


def _shown(number: float | None) -> str:
    return "not defined" if number is None else f"{number:.3f}"
