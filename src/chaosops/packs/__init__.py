"""The packs by name, and how a scenario is made from one."""

from __future__ import annotations

from importlib import import_module

from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Tier
from chaosops.world.incident import Pack

PACKS = ("classic", "arena")


def load_pack(name: str) -> Pack:
    if name not in PACKS:
        raise UnknownName("pack", name, PACKS)
    pack: Pack = import_module(f"{__name__}.{name}").PACK
    return pack


def read_tier(name: str) -> Tier:
    """
    >>> read_tier("hard")
    <Tier.HARD: 'hard'>
    """
    try:
        return Tier(name)
    except ValueError:
        raise UnknownName("tier", name, [tier.value for tier in Tier]) from None


def make_scenario(
    failure: str = "",
    *,
    tier: Tier | str = Tier.EASY,
    seed: int = 0,
    limit: int | None = None,
    pack: str = "classic",
    split: str = "",
) -> Scenario:
    """A checked scenario; without ``limit`` it gets its tier's.

    >>> make_scenario("cascade", tier="hard", seed=7).limit
    25
    >>> make_scenario(pack="arena", split="train", tier="hard", seed=7).limit
    32
    """
    loaded = load_pack(pack)
    tier = read_tier(tier)
    if loaded.splits:
        if failure:
            raise BadInput(f"pack {pack} makes its incidents from a seed: name a split, no failure")
        if split not in loaded.splits:
            raise UnknownName("split", split, loaded.splits)
    else:
        if split:
            raise BadInput(f"pack {pack} has no splits, got {split!r}")
        if failure not in loaded.failures():
            raise UnknownName("scenario", failure, loaded.failures())
    if seed < 0:
        raise BadInput(f"seed must be 0 or more, got {seed}")
    steps = loaded.limits[tier] if limit is None else limit
    if steps < 1:
        raise BadInput(f"the step limit must be 1 or more, got {steps}")
    return Scenario(pack, failure, tier, seed, steps, split)
