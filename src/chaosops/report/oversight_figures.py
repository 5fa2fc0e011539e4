"""How overseers compare, as pictures of several evaluations: ROC by split, and by evasion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from chaosops.core.errors import BadInput
from chaosops.evaluation.cases import Case, top_suspicion
from chaosops.evaluation.evasions import EVASIONS, Tally
from chaosops.evaluation.monitor import MONITOR_METRICS
from chaosops.evaluation.scoring import roc_points
from chaosops.report import figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRST_TURN, LAST_TURN = "first", "last"
_TURNS: Mapping[str, int | None] = {FIRST_TURN: 1, LAST_TURN: None}
_KEYS = {FIRST_TURN: "turn_1", LAST_TURN: "last_turn"}
_RATES = {0.001: "tpr_at_01pct_fpr", 0.01: "tpr_at_1pct_fpr"}
_COLUMNS = 4  # of a grid of splits


class Overseer(NamedTuple):
    """A policy's episodes of one split. A model has a curve; a script is a point."""

    policy: str
    cases: Sequence[Case]
    is_model: bool


def split_roc(splits: Mapping[str, Sequence[Overseer]], path: Path, turn: str = FIRST_TURN) -> Path:
    """One ROC for each split. The axis of false alarms is logarithmic, because an overseer that
    is asked on every incident must be judged where they are rare. Where a policy's own flags put
    it is a point: the share of episodes in which it flagged anybody."""
    judged = {split: _with_both(of) for split, of in splits.items()}
    judged = {split: of for split, of in judged.items() if of}
    if not judged:
        raise BadInput("no split has episodes with a rogue and without: there is no ROC to draw")
    columns = min(_COLUMNS, len(judged))
    rows = -(-len(judged) // columns)
    figure, axes = figures.canvas(columns, rows)
    figure.set_size_inches(max(6.0, 3.6 * columns + 0.6), 3.4 * rows + 1.0)
    names = list(dict.fromkeys(each.policy for of in judged.values() for each in of))
    most = max(_benign(each.cases) for of in judged.values() for each in of)
    for place, (axis, (split, of)) in enumerate(zip(axes, judged.items(), strict=False)):
        zero = _log_axis(axis, most)
        for each in of:
            _draw_overseer(axis, each, figures.style_of(names.index(each.policy)), zero, turn)
        axis.set_title(f"{split}, {len(of[0].cases):,} episodes", loc="left", fontsize=10)
        axis.set_ylim(-4, 104)
        if place % columns == 0:
            axis.set_ylabel("rogue episodes suspected, %")
        if place + columns >= len(judged):
            axis.set_xlabel("benign episodes suspected")
            axis.tick_params(labelbottom=True)  # also where the place below is empty
    for axis in axes[len(judged) :]:
        axis.set_visible(False)
    line = f"line: suspicion after the {turn} turn, 95 % intervals"
    figures.legend_below(figure, axes[: len(judged)], f"{line}; marker: flags")
    return figures.save_figure(figure, path)


def _with_both(overseers: Sequence[Overseer]) -> list[Overseer]:
    """Rates need both classes."""
    return [each for each in overseers if 0 < _benign(each.cases) < len(each.cases)]


def _benign(cases: Sequence[Case]) -> int:
    return sum(case.rogue is None for case in cases)


def _log_axis(axis: Axes, benign: int) -> float:
    """A logarithmic axis of rates. Returns where it shows a rate of zero, which has no logarithm:
    left of the smallest rate that so many episodes can show."""
    decade = floor(log10(1 / benign) + 1e-9)
    zero = 10.0**decade / 4
    ticks = [10.0**power for power in range(decade, 1)]
    axis.set_xscale("log")
    axis.set_xlim(zero / 1.3, 1.15)
    axis.set_xticks([zero, *ticks], ["0", *(f"{100 * tick:g} %" for tick in ticks)])
    axis.minorticks_off()
    axis.axvline(0.01, color=figures.GREY, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
    return zero


def _draw_overseer(axis: Axes, of: Overseer, style: dict[str, Any], zero: float, turn: str) -> None:
    colour = style["color"]
    scores = top_suspicion([case.suspicions for case in of.cases], _TURNS[turn])
    if of.is_model and scores is not None:
        points = roc_points(scores, [case.rogue is not None for case in of.cases])
        x, y = zip(*((max(far, zero), 100 * hit) for far, hit in points), strict=True)
        # Between two thresholds there is none, so the rate stays until the next.
        axis.plot(x, y, drawstyle="steps-post", color=colour, linewidth=1.6)
        _draw_intervals(axis, of.cases, colour, turn)
    suspected = {
        guilty: [bool(case.flagged) for case in of.cases if (case.rogue is not None) is guilty]
        for guilty in (False, True)
    }
    far, hit = (sum(some) / len(some) for some in suspected.values())
    # A point at the edge is drawn whole.
    axis.plot(
        max(far, zero), 100 * hit, linestyle="", label=of.policy, clip_on=False, zorder=4, **style
    )


def _draw_intervals(axis: Axes, cases: Sequence[Case], colour: str, turn: str) -> None:
    for rate, name in _RATES.items():
        (metric,) = (each for each in MONITOR_METRICS if each.key == f"{name}_{_KEYS[turn]}")
        found = metric.compute(cases)
        if found["ci95"] is not None:
            low, high = (100 * bound for bound in found["ci95"])
            axis.plot([rate, rate], [low, high], color=colour, linewidth=3.5, alpha=0.45)


def evasion_figure(tallies: Mapping[str, Mapping[int | None, Tally]], path: Path) -> Path:
    """Rogues caught, and episodes with an innocent agent flagged, by evasion and policy."""
    kinds = [kind for kind in EVASIONS if any(kind in of for of in tallies.values())]
    if not kinds:
        raise BadInput("there is no episode to draw")
    figure, (caught, wronged) = figures.canvas(2)
    figure.set_size_inches(9.6, 1.4 + (0.2 + 0.12 * len(tallies)) * len(kinds))
    for number, (policy, of) in enumerate(tallies.items()):
        shift = (number - (len(tallies) - 1) / 2) * 0.7 / len(tallies)
        style = figures.style_of(number)
        for axis, name in ((caught, "caught"), (wronged, "wronged")):
            rows = [(kinds.index(kind) + shift, getattr(of[kind], name)) for kind in of]
            known = [(place, found) for place, found in rows if found["value"] is not None]
            y = [place for place, _ in known]
            x = [100 * found["value"] for _, found in known]
            reach = [
                [100 * abs(found["value"] - found["ci95"][i]) for _, found in known] for i in (0, 1)
            ]
            axis.errorbar(
                x, y, xerr=reach, linestyle="", label=policy, markersize=5, elinewidth=1.4, **style
            )
    most = {kind: max(of[kind].episodes for of in tallies.values() if kind in of) for kind in kinds}
    labels = [f"{EVASIONS[kind]} ({most[kind]:,})" for kind in kinds]
    for axis in (caught, wronged):
        axis.grid(axis="y", visible=False)
        axis.grid(axis="x", color="#dddddd", linewidth=0.8)
        axis.set_ylim(len(kinds) - 0.5, -0.5)
        for edge in range(1, len(kinds)):
            axis.axhline(edge - 0.5, color="#dddddd", linewidth=0.8)
    caught.set_xlim(-3, 103)
    wronged.set_xlim(-1, min(103.0, max(30.0, wronged.get_xlim()[1])))
    caught.set_yticks(range(len(kinds)), labels)
    wronged.set_yticks(range(len(kinds)), [""] * len(kinds))
    caught.set_title("rogues caught, %", loc="left")
    wronged.set_title("an innocent agent flagged, %", loc="left")
    if None in kinds:
        caught.text(
            50, kinds.index(None), "no rogue to catch", ha="center", va="center", color=figures.GREY
        )
    figures.legend_below(figure, [wronged])
    return figures.save_figure(figure, path)
