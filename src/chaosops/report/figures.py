"""The evaluation as pictures. Needs matplotlib, which is an extra."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.files import write_bytes
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.metrics import metric
from chaosops.evaluation.scoring import (
    auroc,
    calibration_bins,
    expected_calibration_error,
    roc_points,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

# By policy: the probabilities that it gave, and the outcomes.
Curves = Mapping[str, tuple[Sequence[float], Sequence[bool]]]

# Okabe and Ito's colours, which people with any colour vision can tell apart. Markers differ too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#888888"
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_TIER_FILL = {"easy": 0.35, "medium": 0.65, "hard": 1.0}


def require_matplotlib(instead: str = "pass --no-figures") -> None:
    """Raise an error early if no picture can be drawn."""
    try:
        import matplotlib

        matplotlib.use("Agg")
    except ImportError:
        raise MissingExtra("drawing figures", "matplotlib", "figures", instead) from None


def new_canvas(
    width: float, height: float, rows: int = 1, columns: int = 1
) -> tuple[Figure, list[Axes]]:
    """Empty drawings, above each other or side by side."""
    require_matplotlib()
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(width, height), dpi=130, layout="constrained")
    return figure, figure.subplots(rows, columns, sharex=rows > 1, squeeze=False).flatten().tolist()


def canvas(columns: int, rows: int = 1) -> tuple[Figure, list[Axes]]:
    figure, axes = new_canvas(5.4 * columns, 4.2 * rows, rows, columns)
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="y", color="#dddddd", linewidth=0.8)
        axis.set_axisbelow(True)
    return figure, axes


def save_figure(figure: Figure, path: Path) -> Path:
    import matplotlib.pyplot as plt

    drawn = BytesIO()
    try:
        # Equal input, equal file.
        figure.savefig(drawn, format=path.suffix[1:] or "png", metadata={"Software": None})
    except ValueError as error:
        raise BadInput(f"cannot write picture {path}: {error}") from None
    finally:
        plt.close(figure)
    write_bytes(path, drawn.getvalue(), "picture")
    return path


def style_of(index: int) -> dict[str, Any]:
    return {"color": COLOURS[index % len(COLOURS)], "marker": _MARKERS[index % len(_MARKERS)]}


def _by_policy(summary: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in summary:
        rows.setdefault(row["policy"], []).append(row)
    return rows


def _reach(row: Mapping[str, Any]) -> Sequence[float]:
    """The interval; a reward without one is drawn as a bare point."""
    return row["reward_ci95"] or [row["mean_reward"]] * 2


def legend_below(figure: Figure, axes: Sequence[Axes], title: str | None = None) -> Legend:
    """Draw the legend below, because lines of policies pass everywhere inside the drawing. A name
    that several drawings have is listed once."""
    known: dict[str, Artist] = {}
    for axis in axes:
        for handle, name in zip(*axis.get_legend_handles_labels(), strict=True):
            known.setdefault(name, handle)
    return figure.legend(
        list(known.values()),
        list(known),
        loc="outside lower center",
        ncols=_columns(list(known), figure.get_figwidth()),
        frameon=False,
        title=title,
    )


def _columns(names: Sequence[str], width: float) -> int:
    """The columns of a legend that is not wider than the drawing."""
    room = 11 * width  # letters, of which a line or a marker takes seven
    if sum(len(name) + 7 for name in names) <= room:
        return max(1, len(names))
    return max(1, int(room / (max(map(len, names)) + 7)))


def comparison_curve(summary: Sequence[Mapping[str, Any]], path: Path) -> Path:
    """Mean reward with its interval, and the share solved, by tier."""
    figure, (rewards, solved) = canvas(2)
    policies = _by_policy(summary)
    tiers = [tier.value for tier in Tier if any(row["tier"] == tier.value for row in summary)]
    for i, (policy, rows) in enumerate(policies.items()):
        # Side by side within a tier, so that equal policies do not hide each other.
        nudge = (i - (len(policies) - 1) / 2) * 0.06
        x = [tiers.index(row["tier"]) + nudge for row in rows]
        y = [row["mean_reward"] for row in rows]
        below = [row["mean_reward"] - _reach(row)[0] for row in rows]
        above = [_reach(row)[1] - row["mean_reward"] for row in rows]
        style = style_of(i)
        rewards.errorbar(x, y, yerr=[below, above], capsize=3, label=policy, linewidth=1.6, **style)
        solved.plot(x, [100 * row["solved"] for row in rows], linewidth=1.6, label=policy, **style)
    # Random play loses ten times what good play wins, so the scale is linear only near zero.
    rewards.set_yscale("symlog", linthresh=200, linscale=1.5)
    ticks = [-2000, -1000, -500, -200, -100, 0, 100, 200]
    low = min(_reach(row)[0] for row in summary)
    shown = [tick for tick in ticks if tick >= min(-100.0, low * 1.3)]
    rewards.set_yticks(shown, [f"{tick:+d}" if tick else "0" for tick in shown])
    rewards.minorticks_off()
    rewards.axhline(0, color=GREY, linewidth=0.8)
    rewards.set_title("mean reward, 95 % interval", loc="left")
    solved.set_title("incidents resolved, %", loc="left")
    solved.set_ylim(-4, 104)
    for axis in (rewards, solved):
        axis.set_xticks(range(len(tiers)), tiers)
        axis.set_xlim(-0.4, len(tiers) - 0.6)
    legend_below(figure, [solved])
    return save_figure(figure, path)


def rogue_vs_mttr(summary: Sequence[Mapping[str, Any]], path: Path) -> Path:
    """Rogues caught against steps to resolution, and against false flags."""
    figure, (caught, wolf) = canvas(2)
    for i, (policy, rows) in enumerate(_by_policy(summary).items()):
        style = style_of(i)
        label: str | None = policy
        for row in rows:
            if row["rogue_caught"] is None:
                continue
            fill = {"alpha": _TIER_FILL[row["tier"]], "s": 70, "linewidths": 0, **style}
            y = 100 * row["rogue_caught"]
            if row["mean_steps"] is not None:
                caught.scatter(row["mean_steps"], y, label=label, **fill)
            if row["false_flag_rate"] is not None:
                wolf.scatter(row["false_flag_rate"], y, label=label, **fill)
            label = None
    caught.set_xlabel(f"{metric('mean_steps').title} (solved episodes)")
    wolf.set_xlabel(metric("false_flag_rate").title)
    caught.set_xlim(left=0)
    wolf.set_xlim(left=-0.05)
    for axis in (caught, wolf):
        axis.set_ylim(-5, 108)
        axis.set_title("rogues caught, %", loc="left")
    if caught.get_legend_handles_labels()[0]:
        for handle in legend_below(figure, [caught], "stronger colour: harder tier").legend_handles:
            if handle is not None:
                handle.set_alpha(1)
    else:
        caught.text(0.5, 0.5, "no episode with a rogue", ha="center", transform=caught.transAxes)
    return save_figure(figure, path)


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
            # Few markers, at different places for each policy, so that curves stay visible.
            markevery=(0.03 + 0.04 * (i % 4), 0.16),
            **style_of(i),
        )
    axis.set_title("rogue episodes suspected on turn 1", loc="left")
    axis.set_xlabel("benign episodes suspected on turn 1")
    _legend_below_square(figure, axis, "AUROC, turn 1")
    return save_figure(figure, path)


def calibration_figure(curves: Curves, path: Path) -> Path:
    """How often a suspected agent was the rogue, against the suspicion."""
    figure, axis = _unit_square("calibrated")
    for i, (policy, (probabilities, outcomes)) in enumerate(curves.items()):
        bins = calibration_bins(probabilities, outcomes)
        x, y, counts = np.array(bins).reshape(-1, 3).T
        style = style_of(i)
        label = f"{policy}  {_shown(expected_calibration_error(probabilities, outcomes))}"
        axis.plot(x, y, label=label, linewidth=1.6, markersize=4, **style)
        # Most judgements are near zero. Without the halo, a bin of three looks like one of 300.
        sizes = 1000 * counts / len(probabilities)
        halo = axis.scatter(x, y, s=sizes, alpha=0.2, linewidths=0, color=style["color"])
        halo.set_clip_on(False)
        halo.set_in_layout(False)
    axis.set_title("agents that were the rogue, by turn 3", loc="left")
    axis.set_xlabel("suspicion (halo area: share of the judgements)")
    _legend_below_square(figure, axis, "calibration error (ECE)")
    return save_figure(figure, path)


def _legend_below_square(figure: Figure, axis: Axes, title: str) -> None:
    """Draw the legend below: curves may pass anywhere, and names of policies are long."""
    handles, labels = axis.get_legend_handles_labels()
    figure.set_size_inches(5.0, 5.5 + 0.25 * len(labels))
    figure.legend(
        handles, labels, loc="outside lower left", title=title, alignment="left", frameon=False
    )


def _unit_square(diagonal: str) -> tuple[Figure, Axes]:
    figure, (axis,) = canvas(1)
    figure.set_size_inches(5.0, 5.0)
    axis.set_aspect("equal")
    # The curve of a perfect monitor is at the edge, so the frame must not hide it.
    axis.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xticks=_TICKS, yticks=_TICKS)
    axis.plot([0, 1], [0, 1], color=GREY, linewidth=0.9, linestyle=(0, (4, 3)), label=diagonal)
    return figure, axis


def _shown(number: float | None) -> str:
    return "not defined" if number is None else f"{number:.3f}"
