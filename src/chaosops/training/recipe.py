"""A training run as data: every value has a name, a default and a place in a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.vocabulary import Tier
from chaosops.packs import read_tier
from chaosops.packs.arena.splits import require_trainable
from chaosops.policies.llm.formats import FORMATS

METHODS = ("menu", "trl")
PARTNERS = ("oracle", "policy")
FINISHES = ("oracle", "lookahead", "policy", "none")
OBJECTIVES = ("match", "improve", "sample")
TRL_FINISHES = ("none", "oracle")
PREFIXES = ("noisy", "oracle")
ONLY_WITH = {
    "menu": ("compile", "partners", "objective", "temperature", "idle_bonus"),
    "trl": (
        "prompts_per_step",
        "prefixes",
        "reply_format",
        "max_reply_tokens",
        "sampling_temperature",
        "checkpoint_activations",
    ),
}


@dataclass(frozen=True)
class Recipe:
    """Every action on the menu is tried in a fork of the world, the rest is played out, and the
    model learns from all the returns at once (``menu``); or TRL samples replies (``trl``)."""

    name: str = "unnamed"
    method: str = "menu"
    base: str = "local:smollm2"
    start: str = ""  # an adapter to go on from
    seed: int = 0

    lora_rank: int = 16
    lora_alpha: int = 32
    learning_rate: float = 4e-4
    warmup_steps: int = 30
    batch_tokens: int = 24_000
    compile: bool = False  # each layer, on a GPU: some 20 s at the start, then faster
    steps: int = 1_000
    episodes: int = 0  # an earlier end, after so many episodes; 0: none
    window: int = 256  # episodes whose turns are shuffled together
    checkpoint_every: int = 100
    validate_every: int = 250
    validation_seeds: int = 50  # a tier, from a slice of the split that is never trained on

    kl_alarm: float = 6.0  # nats from where the run began, on fixed turns
    kl_abort: float = 12.0
    entropy_alarm: float = 0.005

    curriculum: str = "easy:1,medium:1,hard:2"
    shuffle_tiers: bool = True  # draw tiers by their share, not one after the other
    classic_share: float = 0.1
    split: str = "train"
    first_seed: int = 5_000
    role_shares: str = "sre:0.15,oversight:1.0,dev:0.25,manager:0.05"

    finish: str = "oracle"  # who plays the rest after an action was tried; none: nobody
    partners: str = "oracle"  # with finish = "policy": who plays the roles that do not learn
    objective: str = "match"
    temperature: float = 4.0  # points of reward
    idle_bonus: float = 4.0  # points that noop is ahead: what changes nothing is not worth doing
    entropy: float = 0.0
    kl: float = 0.0  # what a nat away from the start costs
    group_size: int = 16  # replies drawn per prompt, with objective = "sample" and method = "trl"
    rogue_bonus_multiplier: str = "1.0"

    # With method = "trl" alone.
    prompts_per_step: int = 8  # each is answered group_size times
    prefixes: str = "noisy"  # who played up to the turn: as with menu, or the oracle alone
    reply_format: str = "json"  # or menu: a letter
    max_reply_tokens: int = 64
    sampling_temperature: float = 1.0
    checkpoint_activations: bool = False  # less memory for a third more time
    track: str = ""  # a trackio project to report to

    def __post_init__(self) -> None:
        _one_of("method", self.method, METHODS)
        _one_of("finish", self.finish, FINISHES)
        _one_of("objective", self.objective, OBJECTIVES)
        _one_of("partners", self.partners, PARTNERS)
        for name in ("lora_rank", "lora_alpha", "steps", "batch_tokens", "window"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} must be 1 or more, got {getattr(self, name)}")
        if self.group_size < 2:
            raise BadInput(f"group_size must be 2 or more, got {self.group_size}")
        for name in ("episodes", "kl", "entropy"):
            if not getattr(self, name) >= 0:
                raise BadInput(f"{name} must not be negative, got {getattr(self, name)}")
        for name in ("learning_rate", "temperature"):
            if not getattr(self, name) > 0:
                raise BadInput(f"{name} must be above 0, got {getattr(self, name)}")
        if not 0 <= self.classic_share <= 1:
            raise BadInput(f"classic_share must be from 0 to 1, got {self.classic_share}")
        read_curriculum(self.curriculum)
        read_schedule(self.rogue_bonus_multiplier)
        require_trainable(self.split)
        _one_of("reply_format", self.reply_format, tuple(FORMATS))
        _one_of("prefixes", self.prefixes, PREFIXES)
        for name in ("prompts_per_step", "max_reply_tokens", "sampling_temperature"):
            if not getattr(self, name) > 0:
                raise BadInput(f"{name} must be above 0, got {getattr(self, name)}")
        self._require_used()

    def _require_used(self) -> None:
        """A value that its method does not know would be without any effect."""
        if self.method == "trl" and self.finish not in TRL_FINISHES:
            raise BadInput(
                f"finish = '{self.finish}' needs method = 'menu'; "
                f"method 'trl' knows {', '.join(TRL_FINISHES)}"
            )
        for method, names in ONLY_WITH.items():
            for field in fields(self):
                unused = field.name in names and method != self.method
                if unused and getattr(self, field.name) != field.default:
                    raise BadInput(
                        f"{field.name} has no effect with method = '{self.method}': "
                        f"leave it out, or choose method = '{method}'"
                    )

    def to_toml(self) -> str:
        lines = []
        for name, value in asdict(self).items():
            shown = str(value).lower() if isinstance(value, bool) else repr(value)
            lines.append(f"{name} = {shown}".replace("'", '"'))
        return "\n".join(lines) + "\n"


def _one_of(kind: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise UnknownName(kind, given, allowed)


def load_recipe(path: Path, overrides: Mapping[str, str] | None = None) -> Recipe:
    """A TOML file, with single values replaced."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"cannot read recipe {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is no TOML: {error}") from None
    recipe = _with(Recipe(name=path.stem), values, str(path))
    texts = {name: _read(name, text) for name, text in (overrides or {}).items()}
    return _with(recipe, texts, "the command line")


def _with(recipe: Recipe, values: Mapping[str, Any], where: str) -> Recipe:
    kinds = {field.name: type(getattr(recipe, field.name)) for field in fields(recipe)}
    checked = {}
    for name, value in values.items():
        if name not in kinds:
            raise UnknownName(f"recipe value in {where}:", name, kinds)
        kind = kinds[name]
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if kind is str and isinstance(value, int | float):
            value = str(value)
        if type(value) is not kind:
            raise BadInput(f"{name} in {where} must be a {kind.__name__}, got {value!r}")
        checked[name] = value
    return replace(recipe, **checked)


def _read(name: str, text: str) -> Any:
    """A value as TOML would read it; what is no number and no truth value is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


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
        if not 0 < share < float("inf"):
            raise BadInput(f"curriculum {text!r}: write tiers and sizes, such as easy:200,hard:400")
        stages.append((read_tier(name), share))
    return stages


def multiplier_at(recipe: Recipe, progress: float) -> float:
    """What a right flag is multiplied with, ``progress`` (0 to 1) through the run."""
    start, end = read_schedule(recipe.rogue_bonus_multiplier)
    return start + (end - start) * progress


def read_schedule(text: str) -> tuple[float, float]:
    """A constant, or a value that moves evenly over the run.

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
