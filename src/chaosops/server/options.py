"""The options of ``reset``, and the scenario that they choose.

OpenEnv's task API numbers episodes. A task holds options of ``reset`` and not the truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chaosops import packs
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Tier
from chaosops.packs import (
    DEFAULT_PACK,
    GENERATED_PACK,
    make_scenario,
    require_simulated,
    simulated_packs,
)
from chaosops.policies.llm.formats import load_format
from chaosops.rubrics.prices import read_rewards
from chaosops.server.errors import in_one_line

# More steps would leave the reward range that openenv.yaml declares.
MAX_STEPS = 200
SEEDS_A_TIER = 100_000
MOST_AT_ONCE = 1_000
_TIERS = tuple(Tier)

Part = Literal["view", "messages", "action_schema"]
PARTS: tuple[Part, ...] = get_args(Part)


class EpisodeOptions(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    pack: str | None = Field(
        default=None, description=f"{', '.join(simulated_packs())}, or one that is installed"
    )
    scenario: str | None = Field(
        default=None, description=f"a {DEFAULT_PACK} failure; drawn if left out"
    )
    tier: str | None = Field(default=None, description="easy, medium or hard (the default)")
    split: str | None = Field(
        default=None, description=f"of the {GENERATED_PACK}; train if left out"
    )
    seed: int | None = Field(default=None, ge=0, lt=2**63, description="drawn if left out")
    max_steps: int | None = Field(default=None, ge=1, le=MAX_STEPS)
    format: str = Field(default="json", description="of the prompt and of replies: json or menu")


class ResetOptions(EpisodeOptions):
    """``index`` picks a task of a split instead of a tier and a seed. ``include`` chooses what is
    sent about the role on turn: its view as data, as a prompt, and its legal actions. With a
    ``role`` the client plays this role alone, and the server plays its ``partners``."""

    index: int | None = Field(default=None, ge=0)
    include: list[Part] = list(PARTS)
    episode_id: str | None = Field(default=None, max_length=255)
    role: str | None = None
    partners: str | None = Field(default=None, max_length=255)
    rewards: dict[str, Any] = Field(default={}, description="other than the standard")


def read_options(given: Mapping[str, Any]) -> ResetOptions:
    """Checked options, or an error that says in one line what is wrong with them."""
    if "submission" in given:
        raise BadInput("this server is not in evaluation mode; leave out submission")
    for name in given:
        if name not in ResetOptions.model_fields:
            raise UnknownName("reset option", str(name), ResetOptions.model_fields)
    try:
        options = ResetOptions.model_validate(dict(given))
    except ValidationError as problem:
        raise BadInput(f"reset option {in_one_line(problem.errors())}") from None
    load_format(options.format)
    read_rewards(options.rewards)
    return options


def chosen_scenario(options: ResetOptions) -> Scenario:
    """The scenario asked for. The client does not learn what was drawn for it."""
    pack, tier, split, seed = options.pack, options.tier, options.split, options.seed
    if options.index is not None:
        if tier is not None or seed is not None or pack is not None:
            raise BadInput("index replaces pack, tier and seed: give only a split with it")
        drawn = task(split or "train", options.index)
        pack, tier, split, seed = drawn["pack"], drawn["tier"], drawn.get("split"), drawn["seed"]
    if pack is not None:
        require_simulated(pack, "over OpenEnv")
    return make_scenario(
        options.scenario,
        tier=tier,
        seed=seed,
        limit=options.max_steps,
        pack=pack,
        split=split,
        fresh=True,
    )


def splits() -> dict[str, str]:
    """Split -> its pack. A pack without splits is one."""
    whole = {pack.name: pack.name for pack in packs.loadable_packs() if not pack.splits}
    return whole | packs.splits()


def count_tasks(split: str) -> int:
    if split not in splits():
        raise UnknownName("split", split, splits())
    return SEEDS_A_TIER * len(_TIERS)


def task(split: str, index: int) -> dict[str, Any]:
    """
    >>> [(task("train", index)["tier"], task("train", index)["seed"]) for index in (0, 1, 4)]
    [('easy', 0), ('medium', 0), ('medium', 1)]
    """
    count = count_tasks(split)
    if not 0 <= index < count:
        raise BadInput(f"split {split} has tasks 0 to {count - 1}, got {index}")
    return _task(_named(split), index)


def tasks(split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
    """``start`` and ``stop`` are read like those of a Python slice."""
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
