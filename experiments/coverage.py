"""How often the 95 % intervals contain the true value, on populations with known values.

    python experiments/coverage.py [--repeats 2000]

The table has a row for each population and a column for each number of episodes. Shares are also
averaged over all true shares, because a share of 20 has only 21 values and its coverage jumps.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from chaosops.core.vocabulary import Tier
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.scoring import area_ci95, wins
from chaosops.evaluation.statistics import Interval, mean_ci95, ratio_ci95, share_ci95

SIZES = (20, 50, 100, 200, 500)

Dice = np.random.Generator
# An interval from one sample of so many episodes, and the truth it should hold.
Draw = Callable[[Dice, int], tuple[Interval | None, float]]


def shares() -> Iterator[tuple[str, Draw]]:
    def draw(dice: Dice, n: int, share: float | None = None) -> tuple[Interval | None, float]:
        truth = dice.random() if share is None else share
        return share_ci95(int(dice.binomial(n, truth)), n), truth

    yield "share, any", draw
    for share in (0.02, 0.1, 0.5, 0.9):
        yield f"share {share}", partial(draw, share=share)

    def flags(dice: Dice, n: int) -> tuple[Interval | None, float]:
        """Up to three flags an episode. All flags of an episode are right, or all are wrong."""
        bottoms = dice.integers(0, 4, size=n)
        right = dice.random(n) < 0.8
        tops = np.where(right, bottoms, dice.binomial(bottoms, 0.2))
        return ratio_ci95(tops.tolist(), bottoms.tolist()), 0.8 + 0.2 * 0.2

    yield "precision, flags alike in an episode", flags


def areas() -> Iterator[tuple[str, Draw]]:
    """Half of the episodes have a rogue, or 65 % as on tier hard."""
    normal = NormalDist()

    def shifted(dice: Dice, n: int, area: float, rogues: float) -> tuple[Interval | None, float]:
        m = round(rogues * n)
        shift = 2**0.5 * normal.inv_cdf(area)
        won = wins(dice.normal(size=m) + shift, dice.normal(size=n - m))
        return area_ci95(won), area

    for area in (0.5, 0.7, 0.85, 0.95, 0.99):
        for rogues in (0.5, 0.65):
            name = f"AUROC {area}, {rogues:.0%} rogues"
            yield name, partial(shifted, area=area, rogues=rogues)

    def steps(dice: Dice, n: int, caught: float, wrong: float) -> tuple[Interval | None, float]:
        rogue = (dice.random(n // 2) < caught).astype(float)
        benign = (dice.random(n - n // 2) < wrong).astype(float)
        return area_ci95(wins(rogue, benign)), 0.5 + (caught - wrong) / 2

    for caught, wrong in ((0.5, 0.1), (0.9, 0.05), (0.2, 0.1)):
        name = f"AUROC of yes and no, {caught} against {wrong}"
        yield name, partial(steps, caught=caught, wrong=wrong)

    def clear(dice: Dice, n: int, seen: float) -> tuple[Interval | None, float]:
        rogue = dice.random(n // 2) + (dice.random(n // 2) < seen)
        return area_ci95(wins(rogue, dice.random(n - n // 2))), seen + (1 - seen) / 2

    for seen in (0.4, 0.8):
        name = f"AUROC, {seen:.0%} of rogues clear, the rest not seen"
        yield name, partial(clear, seen=seen)


def means() -> Iterator[tuple[str, Draw]]:
    def draw(dice: Dice, n: int, values: Sequence[float]) -> tuple[Interval | None, float]:
        return mean_ci95(dice.choice(values, size=n).tolist()), float(np.mean(values))

    dice = np.random.default_rng(0)
    populations: dict[str, Any] = {
        "mean, normal": dice.normal(size=100_000),
        "mean, exponential": dice.exponential(size=100_000),
        **{f"reward, {policy} hard": found for policy, found in _rewards().items()},
    }
    for name, values in populations.items():
        yield name, partial(draw, values=values)


def _rewards() -> dict[str, list[float]]:
    """Of scripts on the 200 companies of test, hard."""
    chosen = scenarios(pack="arena", split="test", tiers=[Tier.HARD])
    played = evaluate(["oracle", "auditor", "heuristic", "random"], chosen).episodes
    return {policy: [episode.reward for episode in of] for policy, of in played.items()}


def coverage(draw: Draw, n: int, repeats: int, seed: int = 0) -> float | None:
    """The percentage of intervals that contain the true value. A missing interval does not."""
    dice = np.random.default_rng([seed, n])
    held = [
        interval[0] <= truth <= interval[1]
        for interval, truth in (draw(dice, n) for _ in range(repeats))
        if interval is not None
    ]
    return 100 * sum(held) / len(held) if held else None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=2000)
    repeats = parser.parse_args().repeats
    print(f"| interval, {repeats} samples | " + " | ".join(f"n = {n}" for n in SIZES) + " |")
    print("|---|" + "---:|" * len(SIZES))
    for group in (shares, areas, means):
        for name, draw in group():
            found = [coverage(draw, n, repeats) for n in SIZES]
            cells = ["n/a" if share is None else f"{share:.1f}" for share in found]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
