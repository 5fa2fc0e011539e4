"""Are the draws of neighbouring streams independent?

    python experiments/independence.py [--draws 1000000] [--companies 4000]

The first table has the chi-square of pairs of draws from neighbouring streams, in 10 by 10 bins.
Its last row is a control: keys that differ by the stride of the generator, which are not
independent. The second table has how often a fleet agent acts in a minute, of all agents and of
those whose neighbour, or who themselves a minute before, did something. Exits with 1 if a figure
is out of its bar.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from chaosops.core.dice import STRIDE, Dice, key_of
from chaosops.packs import make_scenario
from chaosops.packs.arena import PACK
from chaosops.policies.protocol import request_key

BINS = 10
# With 99 degrees of freedom a chi-square above this has a chance of one in a million.
MOST = 182.0
# How far a conditional rate may be from the unconditional one.
BAR = 0.01
CONTROL = "keys one stride apart"
MINUTES = range(1, 33)

STREAMS: dict[str, Callable[[int], int]] = {
    "neighbouring minutes": lambda i: key_of(7, "routine", i),
    "neighbouring seeds": lambda i: key_of("arena 2", "train", "hard", i),
    "steps of a policy": lambda i: request_key(7, i),
    CONTROL: lambda i: key_of(7) + i * STRIDE,
}


def chi_squares(key: Callable[[int], int], draws: int) -> dict[str, float]:
    """Of the pairs (draw of a stream, draw of the next stream), by their places."""
    places = {"1-1": (0, 0), "2-1": (1, 0), "1-2": (0, 1)}
    counts = {name: [0] * BINS**2 for name in places}
    before = _bins(key(0))
    for i in range(1, draws + 1):
        now = _bins(key(i))
        for name, (one, other) in places.items():
            counts[name][BINS * before[one] + now[other]] += 1
        before = now
    expected = draws / BINS**2
    return {
        name: sum((count - expected) ** 2 for count in cells) / expected
        for name, cells in counts.items()
    }


def _bins(key: int) -> tuple[int, int]:
    dice = Dice(key)
    return int(BINS * dice.unit()), int(BINS * dice.unit())


class Rate(NamedTuple):
    acted: int
    of: int

    @property
    def value(self) -> float:
        return self.acted / self.of


def rates(companies: int) -> dict[str, Rate]:
    """How often an agent acts in a minute of an incident: at all, and on a condition."""
    acted: dict[str, int] = {}
    of: dict[str, int] = {}
    for seed in range(companies):
        for condition, acts in _minutes(seed):
            acted[condition] = acted.get(condition, 0) + acts
            of[condition] = of.get(condition, 0) + 1
    return {condition: Rate(acted[condition], of[condition]) for condition in of}


def _minutes(seed: int) -> Iterator[tuple[str, bool]]:
    """A condition that holds for an agent in a minute, and whether the agent acts."""
    found = PACK.incident(make_scenario(split="train", tier="hard", seed=seed))
    failing = found.company.services[found.plot.target]
    earlier: dict[str, str] = {}  # where each agent acted in the minute before
    for minute in MINUTES:
        places = {entry.agent: entry.target for entry in found.scenery.routine(minute)}
        for agent in found.plot.fleet:
            yield "all", agent in places
            if agent in earlier:
                yield "it acted a minute before", agent in places
        for one, other in pairwise(found.plot.fleet):
            if one in places:
                yield "the agent before it acted", other in places
                if places[one] == failing:
                    yield "the agent before it acted on the failing service", other in places
        earlier = places


def main(draws: int, companies: int) -> bool:
    kept = True
    print(f"| streams, {draws:,} pairs each | 1-1 | 2-1 | 1-2 |\n|---|---|---|---|")
    for name, key in STREAMS.items():
        found = chi_squares(key, draws)
        print(f"| {name} | " + " | ".join(f"{chi:,.0f}" for chi in found.values()) + " |")
        kept &= (max(found.values()) < MOST) == (name != CONTROL)
    print(f"\nat most {MOST:.0f}, but for the control: {'kept' if kept else 'BROKEN'}\n")
    print(f"| acts in a minute, {companies:,} companies | rate | of |\n|---|---|---|")
    by_condition = rates(companies)
    for condition, rate in by_condition.items():
        print(f"| {condition} | {rate.value:.4f} | {rate.of:,} |")
        kept &= abs(rate.value - by_condition["all"].value) < BAR
    print(f"\nwithin {BAR} of the first: {'kept' if kept else 'BROKEN'}")
    return kept


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1_000_000)
    parser.add_argument("--companies", type=int, default=4_000)
    options = parser.parse_args()
    sys.exit(not main(options.draws, options.companies))
