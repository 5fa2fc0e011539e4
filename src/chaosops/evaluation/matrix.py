"""Which episodes an evaluation plays."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.given import whole_number
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Tier
from chaosops.packs import DEFAULT_PACK, load_pack, make_scenario, read_tiers

MATRICES = ("full", "published")
SEEDS_PER_FAILURE = 5
SEEDS_PER_TIER = 200

# How the published table draws the seed of the k-th episode of a tier's i-th failure.
_FAILURE_STRIDE = 97
_EPISODE_STRIDE = 31


def scenarios(
    matrix: str = "full",
    *,
    pack: str | None = None,
    split: str | None = None,
    tiers: Iterable[str] | str = tuple(Tier),
    seeds: int | None = None,
    seed_start: int = 0,
    mechanisms: str | Path = "",
) -> list[Scenario]:
    """The scenarios of an evaluation, as ``chaosops eval`` chooses them. ``seeds``: how many of
    each failure and tier, or of each tier of a pack that generates incidents.

    >>> len(scenarios("full")), len(scenarios("published"))
    (135, 55)
    >>> len(scenarios(split="test", seeds=10))
    30
    """
    if matrix not in MATRICES:
        raise UnknownName("matrix", matrix, MATRICES)
    first = make_scenario(pack=pack, split=split, mechanisms=mechanisms)
    pack, mechanisms = first.pack, first.mechanisms
    loaded = load_pack(pack)
    if seeds is None:
        seeds = SEEDS_PER_TIER if loaded.splits else SEEDS_PER_FAILURE
    seeds = whole_number("the number of seeds", seeds, least=1)
    seed_start = whole_number("the first seed", seed_start, least=0)
    wanted = read_tiers(tiers)
    if loaded.splits:
        if matrix != "full":
            raise BadInput(
                f"matrix '{matrix}' is of the {DEFAULT_PACK} pack; {pack} takes seeds alone"
            )
        return [
            make_scenario(pack=pack, split=split, tier=tier, seed=seed, mechanisms=mechanisms)
            for tier in wanted
            for seed in range(seed_start, seed_start + seeds)
        ]
    chosen = []
    for tier in wanted:
        published = matrix == "published"
        for i, failure in enumerate(loaded.failures(tier if published else None)):
            for k in range(seeds):
                offset = _FAILURE_STRIDE * i + _EPISODE_STRIDE * k if published else k
                chosen.append(
                    make_scenario(failure, tier=tier, seed=seed_start + offset, pack=pack)
                )
    return chosen
