"""Episodes by number: OpenEnv's task API over splits, tiers and seeds.

A task holds the options of ``reset``, and no truth.
"""

from __future__ import annotations

from typing import Any

from chaosops import packs
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.vocabulary import Tier

SEEDS_A_TIER = 100_000
MOST_AT_ONCE = 1_000
_TIERS = tuple(Tier)


def splits() -> dict[str, str]:
    """Split -> its pack. A pack without splits is one."""
    whole = {pack: pack for pack in packs.PACKS if not packs.load_pack(pack).splits}
    return whole | packs.splits()


def count_tasks(split: str) -> int:
    if split not in splits():
        raise UnknownName("split", split, splits())
    return SEEDS_A_TIER * len(_TIERS)


def task(split: str, index: int) -> dict[str, Any]:
    """
    >>> task("train", 4)
    {'pack': 'arena', 'split': 'train', 'tier': 'medium', 'seed': 1}
    """
    count = count_tasks(split)
    if not 0 <= index < count:
        raise BadInput(f"split {split} has tasks 0 to {count - 1}, got {index}")
    return _task(_named(split), index)


def tasks(split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
    """Bounds are read as Python reads those of a slice."""
    wanted = range(*slice(start, stop).indices(count_tasks(split)))
    if len(wanted) > MOST_AT_ONCE:
        raise BadInput(f"at most {MOST_AT_ONCE} tasks at once, got {len(wanted)}; ask for a range")
    named = _named(split)
    return [_task(named, index) for index in wanted]


def _named(split: str) -> dict[str, Any]:
    pack = splits()[split]
    return {"pack": pack} if split == pack else {"pack": pack, "split": split}


def _task(named: dict[str, Any], index: int) -> dict[str, Any]:
    seed, tier = divmod(index, len(_TIERS))
    return {**named, "tier": _TIERS[tier].value, "seed": seed}
