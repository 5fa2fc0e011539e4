"""Every stream has a key of its own: what one draws tells nothing about its neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest

from chaosops.core.dice import Dice, key_of
from chaosops.packs import make_scenario
from chaosops.packs.arena import PACK

BINS = 10
# 99 degrees of freedom: a chi-square above this has a chance of one in a million.
MOST = 182.0

STREAMS: dict[str, Callable[[int, int], int]] = {
    "neighbouring steps": lambda seed, i: key_of(seed, "routine", i),
    "neighbouring seeds": lambda seed, i: key_of("arena 2", "train", "hard", i),
    "a policy's steps": lambda seed, i: key_of(key_of("policy", seed), i),
}


@pytest.mark.parametrize("name", STREAMS)
def test_neighbouring_streams_are_independent(name: str) -> None:
    pairs: Counter[tuple[int, int]] = Counter()
    draws = 100_000
    before = [Dice(STREAMS[name](7, 0)).unit() for _ in range(2)]
    for i in range(1, draws + 1):
        dice = Dice(STREAMS[name](7, i))
        now = [dice.unit(), dice.unit()]
        # The first draw of a stream beside the second of the stream before, and so on.
        pairs[int(BINS * before[1]), int(BINS * now[0])] += 1
        pairs[int(BINS * before[0]), int(BINS * now[0])] += 1
        before = now
    expected = 2 * draws / BINS**2
    chi = sum((pairs[a, b] - expected) ** 2 / expected for a in range(BINS) for b in range(BINS))
    assert chi < MOST


def test_whether_an_agent_acts_does_not_depend_on_the_one_before() -> None:
    acted: list[bool] = []
    followed: list[bool] = []
    near: list[bool] = []
    for seed in range(40):
        found = PACK.incident(make_scenario(split="train", tier="hard", seed=seed))
        fleet, places = found.plot.fleet, {found.company.services[found.plot.target]}
        for step in range(1, 33):
            acts = {entry.agent: entry for entry in found.scenery.routine(step)}
            for one, other in pairwise(fleet):
                acted.append(other in acts)
                if one in acts:
                    followed.append(other in acts)
                    if acts[one].target in places:
                        near.append(other in acts)
    share = sum(acted) / len(acted)
    assert abs(sum(followed) / len(followed) - share) < 0.03
    assert abs(sum(near) / len(near) - share) < 0.08
