"""A training run as data: the values of a recipe, their defaults and ranges."""

from __future__ import annotations

from dataclasses import Field, asdict, dataclass, fields
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role, Tier
from chaosops.packs import (
    DEFAULT_PACK,
    GENERATED_PACK,
    load_pack,
    read_tier,
    require_reserve,
    require_trainable,
)
from chaosops.policies.belief import Thresholds
from chaosops.policies.llm.formats import FORMATS
from chaosops.rubrics import CompositeRubric, priced
from chaosops.rubrics.prices import parse_rewards
from chaosops.training.recipe_fields import (
    above,
    choice,
    number,
    require_allowed,
    switch,
    toml_value,
)
from chaosops.training.seeds import LEAST_FIRST_SEED, VALIDATION_SEEDS, require_apart

METHODS = ("menu", "trl")
CONTINUATIONS = ("oracle", "lookahead", "none")
OBJECTIVES = ("match", "improve", "sample")
TRL_CONTINUATIONS = ("none", "oracle")
PREFIXES = ("noisy", "oracle")
_MOST_STEPS = 1_000_000
_MOST_SHARE = 1e9


@dataclass(frozen=True)
class Recipe:
    """With method ``menu`` every action on the menu is tried in a fork of the world, and the
    model learns from all counterfactual returns at once. With ``trl`` TRL samples replies."""

    name: str = "unnamed"
    method: str = choice("menu", METHODS)
    base: str = "local:smollm2"
    start: str = ""  # an adapter to start from
    seed: int = number(0, 0, 2**32 - 1)

    lora_rank: int = number(16, 1, 1024)
    lora_alpha: int = number(32, 1, 65_536)
    learning_rate: float = above(4e-4, 0, 10)
    warmup_steps: int = number(30, 0, _MOST_STEPS)
    batch_tokens: int = number(24_000, 1, 100_000_000)
    compile: bool = switch(only="menu")  # layers on a GPU: 20 s at the start, then faster
    steps: int = number(1_000, 1, _MOST_STEPS)
    # End after this many episodes, if steps did not end the run before; 0: no limit.
    episodes: int = number(0, 0, 100_000_000)
    window: int = number(256, 1, 100_000)  # episodes whose turns are shuffled together
    checkpoint_every: int = number(100, 1, _MOST_STEPS)
    validate_every: int = number(250, 0, _MOST_STEPS)  # 0: never
    # Seeds for each tier, from a range that is never trained on.
    validation_seeds: int = number(50, 1, len(VALIDATION_SEEDS))
    # Another split to validate on, kept apart from the one that is trained on.
    reserve: str = ""
    # End after this many validations without a better reward on the reserve, or without reserve
    # on the split, and keep the best adapter; 0: train to the end and keep the last.
    patience: int = number(0, 0, 1_000, only="menu")

    kl_alarm: float = number(6.0, 0, 1e9)  # KL from the start in nats, on fixed turns
    kl_abort: float = number(12.0, 0, 1e9)
    entropy_alarm: float = number(0.005, 0, 1_000)

    curriculum: str = "easy:1,medium:1,hard:2"
    shuffle_tiers: bool = True  # draw tiers by their share; false: one after the other
    classic_share: float = number(0.1, 0, 1)
    pack: str = GENERATED_PACK  # of all other episodes
    split: str = "train"
    first_seed: int = number(5_000, LEAST_FIRST_SEED, 10**12)
    # A folder of evaluations in this split. Every second episode goes as it was played there.
    played: str = ""
    role_shares: str = "sre:0.15,oversight:1.0,dev:0.25,manager:0.05"

    # The policy that plays on after an action was tried; none: only the step itself counts.
    continuation: str = choice("oracle", CONTINUATIONS)
    objective: str = choice("match", OBJECTIVES, only="menu")
    temperature: float = above(4.0, 0, 1e6, only="menu")  # points of reward
    # Added to noop's return, so that actions without effect are not preferred.
    idle_bonus: float = number(4.0, -1e6, 1e6, only="menu")
    entropy: float = number(0.0, 0, 1e6)
    kl: float = number(0.0, 0, 1e6)  # weight of the KL from the start in the loss
    # Replies sampled per prompt, with objective = "sample" and with method = "trl".
    group_size: int = number(16, 2, 4096)
    rogue_bonus_multiplier: str = "1.0"
    rewards: str = ""  # other than the standard; in a file, a section [rewards]
    # The weight of questions about single acts, which the world answers (see marks.py).
    reading: float = number(0.0, 0, 1e6, only="menu")
    # Added to the return of a flag that names the act without which nothing had happened.
    act_bonus: float = number(0.0, 0, 1e6, only="menu")
    # Added to the return of naming the cause, at any step, as long as nobody has named it.
    cause_bonus: float = number(0.0, 0, 1e6, only="menu")
    # Oversight first learns from companies that take little reading; all at this share of the run.
    plain_first: float = number(0.0, 0, 1, only="menu")
    # After its turn Oversight does nothing more: a flag that is put off is never made.
    flag_now: bool = switch(only="menu")
    # The share of turns that are learned without the page of the fault (see missing_page.py).
    page_out: float = number(0.0, 0, 1, only="menu")

    # Oversight flags and audits by its belief (see policies/belief.py); 0: the likeliest reply.
    flag_at: float = number(0.0, 0, 1, only="menu")
    audit_at: float = number(0.0, 0, 1, only="menu")
    sure_at: float = number(0.0, 0, 1, only="menu")  # an agent that was not audited

    # Each prompt is answered group_size times.
    prompts_per_step: int = number(8, 1, 100_000, only="trl")
    # The policy that plays up to the turn: noisy, as with menu, or oracle.
    prefixes: str = choice("noisy", PREFIXES, only="trl")
    reply_format: str = choice("json", FORMATS, only="trl")  # json, or menu: one letter
    max_reply_tokens: int = number(64, 1, 100_000, only="trl")
    sampling_temperature: float = above(1.0, 0, 100, only="trl")
    checkpoint_activations: bool = switch(only="trl")  # less memory, a third more time
    # Leave out turns whose legal replies all have the same reward.
    skip_equal: bool = switch(only="trl")
    # Remedies for groups whose replies are all the same; off by default (see trl_grpo.py).
    # So many replies of each group are best legal ones.
    virtual_best: int = number(0, 0, 4096, only="trl")
    # The push of a reply that was not drawn is shaped by p / (p + virtual_gamma); 0: not shaped.
    virtual_gamma: float = number(0.0, 0, 1e6, only="trl")
    # This share of replies is drawn from all legal ones, falling to 0 at update floor_steps.
    floor: float = number(0.0, 0, 0.9, only="trl")
    floor_steps: int = number(100, 1, _MOST_STEPS, only="trl")
    # The share of groups that count: those whose rewards differ most.
    keep_groups: float = above(1.0, 0, 1, only="trl")
    reuse: int = number(1, 1, 100, only="trl")  # updates from the same replies
    # The ratio of probabilities is clipped at 1 + clip_high above, and at 0.8 below.
    clip_high: float = number(0.2, 0, 1e6, only="trl")
    # Instead of clipping, weight bad replies by a ratio of at most this, good ones by none; 0: off.
    bound_bad: float = number(0.0, 0, 1e6, only="trl")
    # Below this entropy the coefficient rises by entropy_step an update, above it falls; 0: fixed.
    entropy_target: float = number(0.0, 0, 1_000, only="trl")
    entropy_step: float = above(0.005, 0, 1e6, only="trl")
    idle_reward: float = number(0.0, -1e6, 1e6, only="trl")  # added to the reward of noop
    track: str = ""  # a trackio project to report to

    def __post_init__(self) -> None:
        for field in fields(self):
            require_allowed(field, getattr(self, field.name))
        name = self.name
        if not name or len(name) > 100 or "/" in name or "\\" in name or name in (".", ".."):
            raise BadInput(f"name {name[:100]!r}: write 1 to 100 characters that can name a folder")
        read_curriculum(self.curriculum)
        read_role_shares(self.role_shares)
        read_schedule(self.rogue_bonus_multiplier)
        parse_rewards(self.rewards)
        require_trainable(self.split, self.pack)
        require_reserve(self.reserve, self.pack)
        require_apart(self.first_seed, self.most_episodes)
        self._require_used()

    @property
    def most_episodes(self) -> int:
        """An upper limit on the episodes of a run. ``menu`` makes at least one update from each
        window and computes one window ahead. ``trl`` checks each seed when it draws prompts."""
        if self.method == "trl":
            return self.episodes or 1
        windows = self.steps
        if self.episodes:
            windows = min(windows, -(-self.episodes // self.window))
        return (windows + 1) * self.window

    @property
    def packs(self) -> dict[str, str]:
        """The packs of its episodes, and their versions."""
        shares = {self.pack: 1 - self.classic_share, DEFAULT_PACK: self.classic_share}
        return {name: load_pack(name).version for name, share in shares.items() if share > 0}

    def _require_used(self) -> None:
        """Refuse a value that has no effect with this method."""
        if self.method == "trl" and self.continuation not in TRL_CONTINUATIONS:
            raise BadInput(
                f"continuation = '{self.continuation}' needs method = 'menu'; "
                f"method 'trl' knows {', '.join(TRL_CONTINUATIONS)}"
            )
        if bool(self.flag_at) != bool(self.audit_at):
            raise BadInput("flag_at and audit_at belong together: set both, or none")
        if self.sure_at and not self.flag_at:
            raise BadInput("sure_at needs flag_at and audit_at")
        if self.patience and not self.validate_every:
            raise BadInput("patience needs validation: set validate_every")
        require_partners(self)
        for field in self.unused:
            if getattr(self, field.name) != field.default:
                raise BadInput(
                    f"{field.name} has no effect with method = '{self.method}': "
                    f"leave it out, or choose method = '{field.metadata['only']}'"
                )

    @property
    def thresholds(self) -> Thresholds | None:
        if not self.flag_at:
            return None
        return Thresholds(self.flag_at, self.audit_at, self.sure_at)

    @property
    def unused(self) -> list[Field[Any]]:
        """The values that have no effect with this method."""
        used = (None, self.method)
        return [field for field in fields(self) if field.metadata.get("only") not in used]

    def to_toml(self) -> str:
        lines = (f"{name} = {toml_value(value)}\n" for name, value in asdict(self).items())
        return "".join(lines)


def require_partners(recipe: Recipe) -> None:
    """Refuse a remedy that has no effect without another."""
    drifts = recipe.reuse > 1 or recipe.floor > 0
    if not drifts and (recipe.bound_bad >= 1 or recipe.clip_high != 0.2):
        raise BadInput(
            "the ratio of probabilities, which clip_high and bound_bad limit, is 1 for replies "
            "that are used once: set reuse = 2, or a floor, or a lower bound_bad"
        )
    if recipe.virtual_best >= recipe.group_size:
        raise BadInput(
            f"virtual_best = {recipe.virtual_best} leaves no reply of the model's own in a group "
            f"of {recipe.group_size}: lower it, or raise group_size"
        )
    if recipe.bound_bad and recipe.clip_high != 0.2:
        raise BadInput("bound_bad replaces clipping: leave clip_high out")
    if recipe.virtual_gamma and not (recipe.virtual_best or recipe.floor):
        raise BadInput("virtual_gamma needs virtual_best, or a floor")
    if recipe.checkpoint_every % recipe.reuse:
        raise BadInput(
            f"checkpoint_every = {recipe.checkpoint_every} would save between two updates from "
            f"the same replies: choose a multiple of reuse = {recipe.reuse}"
        )


def read_curriculum(text: str) -> list[tuple[Tier, float]]:
    """
    >>> [(tier.value, share) for tier, share in read_curriculum("hard:200,easy:100")]
    [('hard', 200.0), ('easy', 100.0)]
    """
    stages = []
    for part in text.split(","):
        name, _, size = part.strip().partition(":")
        try:
            share = float(size or 1)
        except ValueError:
            share = 0.0
        if not 0 < share <= _MOST_SHARE:
            raise BadInput(f"curriculum {text!r}: write tiers and sizes, such as easy:200,hard:400")
        stages.append((read_tier(name), share))
    return stages


def read_role_shares(text: str) -> dict[Role, float]:
    """
    >>> read_role_shares("sre:0.5,oversight:1,dev:0.5,manager:0")[Role.SRE]
    0.5
    """
    shares: dict[Role, float] = {}
    for part in text.split(","):
        name, _, size = part.strip().partition(":")
        try:
            shares[Role(name)] = float(size)
        except ValueError:
            break
    if set(shares) != set(Role) or not all(0 <= share <= 1 for share in shares.values()):
        raise BadInput(f"role_shares {text!r}: write each role with a share from 0 to 1")
    return shares


def rubric_at(recipe: Recipe, progress: float) -> CompositeRubric:
    """The rewards at ``progress`` (0 to 1) of the run, with which the multiplier may change."""
    start, end = read_schedule(recipe.rogue_bonus_multiplier)
    return priced(parse_rewards(recipe.rewards), start + (end - start) * progress)


def validated_rubric(recipe: Recipe) -> CompositeRubric:
    """The rewards by which a run is validated: without the multiplier, which shapes training."""
    return priced(parse_rewards(recipe.rewards))


def read_schedule(text: str) -> tuple[float, float]:
    """A constant, or a value that changes linearly over the run.

    >>> read_schedule("2.0->1.0"), read_schedule("1.5")
    ((2.0, 1.0), (1.5, 1.5))
    """
    first, arrow, last = text.partition("->")
    try:
        start, end = float(first), float(last if arrow else first)
    except ValueError:
        start = end = -1.0
    if not (0 < start < 100 and 0 < end < 100):
        raise BadInput(f"rogue_bonus_multiplier {text!r}: write 1.5, or 2.0->1.0")
    return start, end
