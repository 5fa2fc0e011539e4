"""The packs by name, and how a scenario is made from one.

A pack is a folder here with a ``PACK``, an instance of ``Pack`` in ``world/incident.py``. Other
packages bring theirs as entry points ``chaosops.packs``.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path

from chaosops.core.dice import Dice, key_of
from chaosops.core.discovery import installed, load_installed, modules_in
from chaosops.core.errors import BadInput, ChaosOpsError, UnknownName
from chaosops.core.given import one_or_more, whole_number
from chaosops.core.printable import short
from chaosops.core.retired import require_played, retired_name
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Tier
from chaosops.world.incident import Pack

# The defaults of a scenario. docs/world.md lists them with the defaults of each pack.
DEFAULT_PACK = "classic"
GENERATED_PACK = "arena"  # the pack with splits that ships
DEFAULT_TIER = Tier.HARD
DEFAULT_SEED = 42

FRESH_SEEDS = 2**31


GROUP = "chaosops.packs"

# The packs that ship come first, so that another pack cannot take over a split's name.
SHIPPED = modules_in(__path__, (DEFAULT_PACK, GENERATED_PACK))
PACKS = (*SHIPPED, *(name for name in installed(GROUP) if name not in SHIPPED))


# What stands for a scenario in Python: itself, or the name of a failure.
AnyScenario = Scenario | str


@cache
def load_pack(name: str) -> Pack:
    if name in SHIPPED:
        pack: Pack = import_module(f"{__name__}.{name}").PACK
        return pack
    if name not in PACKS:
        if told := retired_name(name):
            raise BadInput(f"pack {name} is {told}")
        raise UnknownName("pack", name, PACKS)
    found = load_installed("pack", name, installed(GROUP)[name])
    if not isinstance(found, Pack) or found.name != name:
        raise BadInput(
            f"pack {name} must be an instance of chaosops.world.incident.Pack with the name "
            f"{name!r}, got {short(found)}"
        )
    return found


def loadable_packs(*, real_time: bool = False) -> list[Pack]:
    """All packs but those of other packages that cannot be loaded: one of them must not stop work
    with another. ``chaosops list`` and naming the pack say what is wrong. Packs in real time are
    left out unless they are asked for."""
    found = (pack for name in PACKS if (pack := _loaded(name)) is not None)
    return [pack for pack in found if real_time or not pack.real_time]


def simulated_packs() -> list[str]:
    """The packs that ship and play in simulated time: every surface plays them."""
    return [name for name in SHIPPED if not load_pack(name).real_time]


def require_simulated(pack: str, where: str) -> None:
    """Refuse a pack in real time where many are played side by side, or where it could not be
    left."""
    if load_pack(pack).real_time:
        raise BadInput(
            f"pack {pack} plays in real time, one episode after the other, and not {where}; "
            f"choose {' or '.join(simulated_packs())}"
        )


def played_like(name: str) -> Pack:
    """The pack whose players play a pack: itself, or the one with its prompts and menus."""
    pack = load_pack(name)
    return load_pack(pack.plays_like) if pack.plays_like else pack


@cache
def _loaded(name: str) -> Pack | None:
    try:
        return load_pack(name)
    except ChaosOpsError:
        if name in SHIPPED:
            raise
        return None


def require_version(pack: str, version: str) -> None:
    """Refuse a recorded scenario that this version of its pack does not play."""
    require_played("it", [(pack, version)])
    if version and load_pack(pack).version != version:
        raise BadInput(f"pack {pack} is of version {load_pack(pack).version}, not {version}")


def generated_packs(names: Iterable[str]) -> list[str]:
    """Those of some packs that generate their incidents."""
    return [name for name in names if name in PACKS and load_pack(name).splits]


def splits() -> dict[str, str]:
    """Every split and the name of its pack."""
    found: dict[str, str] = {}
    for pack in loadable_packs():
        for split in pack.splits:
            found.setdefault(split, pack.name)
    return found


def unknown_split(split: str, allowed: Iterable[str]) -> UnknownName:
    """The error. It also lists a split that exists where something was added to a pack."""
    found = list(allowed)
    added = {pack.added_split for pack in loadable_packs()} - {"", *found}
    hints = [f"{name} (where something was added to the pack)" for name in added]
    return UnknownName("split", split, [*found, *hints])


def _pack_of(split: str) -> str:
    found = splits()
    if split not in found:
        raise unknown_split(split, found)
    return found[split]


def training_splits() -> list[str]:
    packs = [pack for pack in loadable_packs() if pack.training_split]
    found = ((pack.training_split, *pack.more_training_splits) for pack in packs)
    return list(dict.fromkeys(chain.from_iterable(found)))


def require_trainable(split: str, pack: str | None = None) -> None:
    """Raise an error if a split is for evaluation. Trainers call this before they draw."""
    loaded = load_pack(_pack_of(split) if pack is None else pack)
    if not loaded.splits:
        raise BadInput(
            f"pack {pack} has no splits to train on; allowed: "
            + ", ".join(pack.name for pack in loadable_packs() if pack.splits)
        )
    if split not in loaded.splits:
        raise UnknownName("split", split, loaded.splits)
    if split not in (loaded.training_split, *loaded.more_training_splits):
        raise BadInput(
            f"split '{split}' is for evaluation and must not be trained on; "
            f"allowed: {', '.join(training_splits())}"
        )


def require_reserve(split: str, pack: str) -> None:
    """Raise an error if a run may not be validated on a split. What is reported on at the end
    must not choose the model; "" is no split."""
    loaded = load_pack(pack)
    if split and split != loaded.reserve_split:
        raise BadInput(
            f"reserve {split!r} is not kept for validation; "
            f"allowed: {loaded.reserve_split or 'none with this pack'}"
        )


def read_tier(name: str) -> Tier:
    """
    >>> read_tier("hard")
    <Tier.HARD: 'hard'>
    """
    try:
        return Tier(name)
    except ValueError:
        raise UnknownName("tier", name, [tier.value for tier in Tier]) from None


def read_tiers(given: Iterable[str] | str, name: str = "tiers") -> list[Tier]:
    """Each tier once. ``name`` is what the argument is called.

    >>> read_tiers(["hard", "hard"]), read_tiers("easy")
    ([<Tier.HARD: 'hard'>], [<Tier.EASY: 'easy'>])
    """
    if not (found := list(dict.fromkeys(map(read_tier, one_or_more(given))))):
        raise BadInput(f"{name} needs at least one of {', '.join(Tier)}")
    return found


def make_scenario(
    failure: str | None = None,
    *,
    tier: Tier | str | None = None,
    seed: int | None = None,
    limit: int | None = None,
    pack: str | None = None,
    split: str | None = None,
    mechanisms: str | Path = "",
    fresh: bool = False,
) -> Scenario:
    """Make a checked scenario. An argument that is None gets its default: see docs/world.md.

    A split names its pack. With ``fresh``, a seed or failure that is not named is drawn at random,
    and the default split is the one for training. OpenEnv sessions start like this.

    >>> make_scenario("cascade", seed=7).to_wire()
    {'pack': 'classic', 'failure': 'cascade', 'tier': 'hard', 'seed': 7, 'limit': 25}
    >>> make_scenario(split="train", tier="easy").to_wire()
    {'pack': 'arena', 'tier': 'easy', 'seed': 42, 'limit': 16, 'split': 'train', 'version': '2'}
    """
    if pack is None:
        unnamed = GENERATED_PACK if mechanisms else DEFAULT_PACK
        pack = unnamed if split is None else _pack_of(split)
    loaded = load_pack(pack)
    tier = DEFAULT_TIER if tier is None else read_tier(tier)
    if seed is None:
        seed = secrets.randbelow(FRESH_SEEDS) if fresh else DEFAULT_SEED
    seed = whole_number("seed", seed, least=0)
    if loaded.splits:
        if failure:
            raise BadInput(f"pack {pack} has splits instead of failures; name a split")
        default = (fresh and loaded.training_split) or loaded.default_split
        failure, split = "", _checked("split", split, default, loaded.splits)
    else:
        if split:
            raise BadInput(f"pack {pack} has no splits, got {split!r}; leave it out")
        draws = fresh and failure is None
        default = _drawn_failure(loaded, seed) if draws else loaded.default_failure
        failure, split = _checked("scenario", failure, default, loaded.failures()), ""
    if mechanisms:
        mechanisms = loaded.read_mechanisms(mechanisms)
    steps = loaded.limits[tier] if limit is None else whole_number("the step limit", limit, least=1)
    version = "" if loaded.version == "1" else loaded.version
    return Scenario(pack, failure, tier, seed, steps, split, str(mechanisms), version)


def read_scenario(given: AnyScenario) -> Scenario:
    """A scenario, or the name of a failure for one with the defaults."""
    if isinstance(given, str):
        return make_scenario(given)
    if not isinstance(given, Scenario):
        raise BadInput(
            f"{short(given)} is not a scenario; make one with make_scenario, or a list of them "
            "with scenarios"
        )
    return given


def _checked(kind: str, name: str | None, default: str, allowed: tuple[str, ...]) -> str:
    name = default if name is None else name
    if name not in allowed:
        raise unknown_split(name, allowed) if kind == "split" else UnknownName(kind, name, allowed)
    return name


def _drawn_failure(pack: Pack, seed: int) -> str:
    return Dice(key_of("served failure", pack.name, seed)).pick(pack.drawn)
