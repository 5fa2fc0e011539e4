"""One picture of the training seeds over their stages, by validation on the reserve.

    python experiments/draw_stages.py [OUT.png [SEEDS]]

SEEDS has a folder for each seed with a folder for each stage (``experiments/thin_run.py``). Stages
of the adapter that ships which no seed has continue the best seed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.evaluation.metrics import metric
from chaosops.report import figures
from chaosops.report.seeds import (
    AUROC,
    Stage,
    best_seed,
    in_order,
    judged_tiers,
    read_seeds,
    read_stage,
)

ROOT = Path(__file__).parents[1]
OUT, SEEDS = ROOT / "docs/assets/learning_stages.png", ROOT / "experiments/seeds"
SHIPPED = ROOT / "src/chaosops/trained/training"
PANELS = {
    "mean_reward": (metric("mean_reward").title, 1),
    "rogue_caught": ("rogues caught, %", 100),
    "false_flag_rate": (metric("false_flag_rate").title, 1),
    AUROC: ("AUROC of suspicion, turn 3", 1),
}

Curve = dict[tuple[int, int], float]  # by stage, and by update over all stages


def stages_curve(
    seeds: Mapping[str, Sequence[Stage]], path: Path, later: Sequence[Stage] = ()
) -> Path:
    """A thin line is a seed, and a thick one the mean of all seeds, where all were validated.
    ``later``: what the best seed alone went through after that."""
    if not seeds:
        raise BadInput("there is no seed to draw")
    first = [*next(iter(seeds.values())), *later]
    chosen = best_seed(seeds) if later else ""
    seeds = {**seeds, **({chosen: [*seeds[chosen], *later]} if later else {})}
    tiers = judged_tiers(first[-1])
    ends = [_ends(stages) for stages in seeds.values()]
    figure, axes = figures.canvas(2, 2)
    figure.set_size_inches(9.6, 6.8)
    for axis, (key, (title, factor)) in zip(axes, PANELS.items(), strict=True):
        for colour, tier in zip(figures.COLOURS, tiers, strict=False):
            curves = [_curve(stages, tier, key) for stages in seeds.values()]
            if not any(curves):
                continue
            for curve in curves:
                _plot(axis, curve, factor, color=colour, linewidth=0.8, alpha=0.45)
            _plot(axis, _mean(curves), factor, color=colour, linewidth=2.4, label=tier)
        for end in {stop for stops in ends for stop in stops[:-1]}:
            axis.axvline(end, color=figures.GREY, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
        axis.set_title(title, loc="left")
    axes[0].set_yscale("symlog", linthresh=100)  # an untrained team loses a thousand points
    for axis in axes[2:]:
        axis.set_xlabel("updates, one stage after the other")
    names = ", ".join(stage.recipe.name for stage in first)
    alone = f"; seed {chosen} alone in the last {len(later)}" if later else ""
    told = f"{names}: mean of {len(seeds)} seeds, and each of them{alone}"
    figures.legend_below(figure, axes, told)
    return figures.save_figure(figure, path)


def later_stages(seeds: Mapping[str, Sequence[Stage]], shipped: Path) -> list[Stage]:
    """The stages of the adapter that ships which come after those of the seeds."""
    known = {stage.folder.name for stages in seeds.values() for stage in stages}
    places = sorted(path for path in shipped.glob("*") if path.is_dir())
    return [stage for stage in in_order(map(read_stage, places)) if stage.folder.name not in known]


def _ends(stages: Sequence[Stage]) -> list[int]:
    """The update at which each stage ends, counted from the first stage on."""
    ends = [0]
    for stage in stages:
        ends.append(ends[-1] + max(row["step"] for row in stage.validations))
    return ends[1:]


def _curve(stages: Sequence[Stage], tier: str, key: str) -> Curve:
    curve: Curve = {}
    for i, (began, stage) in enumerate(zip([0, *_ends(stages)], stages, strict=False)):
        for row in stage.validations:
            value = row["validation"].get(tier, {}).get(key)
            if value is not None:
                curve[i, began + row["step"]] = value
    return curve


def _mean(curves: Sequence[Curve]) -> Curve:
    shared = [at for at in curves[0] if all(at in curve for curve in curves)]
    return {at: sum(curve[at] for curve in curves) / len(curves) for at in shared}


def _plot(axis: Any, curve: Curve, factor: float, label: str = "", **style: Any) -> None:
    """Each stage has a line of its own: prompts and rules of decision may change between them."""
    for stage in dict.fromkeys(stage for stage, _ in curve):
        points = [(step, factor * value) for (of, step), value in curve.items() if of == stage]
        axis.plot(*zip(*points, strict=True), marker="o", ms=3, label=label or None, **style)
        label = ""


if __name__ == "__main__":
    out, seeds = (*map(Path, sys.argv[1:3]), *(OUT, SEEDS)[len(sys.argv) - 1 :])[:2]
    try:
        figures.require_matplotlib("")
        found = read_seeds(seeds)
        print(stages_curve(found, out, later_stages(found, SHIPPED) if seeds == SEEDS else ()))
    except ChaosOpsError as error:
        sys.exit(f"draw_stages.py: {error}")
