"""A training run as data: every value has a name, a default and a place in a TOML file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.inputs import read_text
from chaosops.core.printable import one_line
from chaosops.core.vocabulary import Role, Tier
from chaosops.packs import read_tier
from chaosops.packs.arena.splits import require_trainable
from chaosops.policies.llm.formats import FORMATS
from chaosops.training.ranges import above, real, require_in_range, whole
from chaosops.training.seeds import LEAST_FIRST_SEED, VALIDATION_SEEDS, require_apart

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
_KINDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
_MOST_STEPS = 1_000_000
_MOST_SHARE = 1e9


@dataclass(frozen=True)
class Recipe:
    """Every action on the menu is tried in a fork of the world, the rest is played out, and the
    model learns from all the returns at once (``menu``); or TRL samples replies (``trl``)."""

    name: str = "unnamed"
    method: str = "menu"
    base: str = "local:smollm2"
    start: str = ""  # an adapter to go on from
    seed: int = whole(0, 0, 2**32 - 1)

    lora_rank: int = whole(16, 1, 1024)
    lora_alpha: int = whole(32, 1, 65_536)
    learning_rate: float = above(4e-4, 0, 10)
    warmup_steps: int = whole(30, 0, _MOST_STEPS)
    batch_tokens: int = whole(24_000, 1, 100_000_000)
    compile: bool = False  # each layer, on a GPU: some 20 s at the start, then faster
    steps: int = whole(1_000, 1, _MOST_STEPS)
    # An earlier end, after so many episodes; 0: none.
    episodes: int = whole(0, 0, 100_000_000)
    window: int = whole(256, 1, 100_000)  # episodes whose turns are shuffled together
    checkpoint_every: int = whole(100, 1, _MOST_STEPS)
    validate_every: int = whole(250, 0, _MOST_STEPS)  # 0: never
    # A tier, from a slice of the split that is never trained on.
    validation_seeds: int = whole(50, 1, len(VALIDATION_SEEDS))

    kl_alarm: float = real(6.0, 0, 1e9)  # nats from where the run began, on fixed turns
    kl_abort: float = real(12.0, 0, 1e9)
    entropy_alarm: float = real(0.005, 0, 1_000)

    curriculum: str = "easy:1,medium:1,hard:2"
    shuffle_tiers: bool = True  # draw tiers by their share, not one after the other
    classic_share: float = real(0.1, 0, 1)
    split: str = "train"
    first_seed: int = whole(5_000, LEAST_FIRST_SEED, 10**12)
    role_shares: str = "sre:0.15,oversight:1.0,dev:0.25,manager:0.05"

    finish: str = "oracle"  # who plays the rest after an action was tried; none: nobody
    partners: str = "oracle"  # with finish = "policy": who plays the roles that do not learn
    objective: str = "match"
    temperature: float = above(4.0, 0, 1e6)  # points of reward
    # Points that noop is ahead: what changes nothing is not worth doing.
    idle_bonus: float = real(4.0, -1e6, 1e6)
    entropy: float = real(0.0, 0, 1e6)
    kl: float = real(0.0, 0, 1e6)  # what a nat away from the start costs
    # Replies drawn per prompt, with objective = "sample" and method = "trl".
    group_size: int = whole(16, 2, 4096)
    rogue_bonus_multiplier: str = "1.0"

    # With method = "trl" alone.
    prompts_per_step: int = whole(8, 1, 100_000)  # each is answered group_size times
    prefixes: str = "noisy"  # who played up to the turn: as with menu, or the oracle alone
    reply_format: str = "json"  # or menu: a letter
    max_reply_tokens: int = whole(64, 1, 100_000)
    sampling_temperature: float = above(1.0, 0, 100)
    checkpoint_activations: bool = False  # less memory for a third more time
    track: str = ""  # a trackio project to report to

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(field.default, int | float) and not isinstance(field.default, bool):
                require_in_range(field, value)
            if isinstance(value, str):
                _require_plain(field.name, value)
        _require_file_name(self.name)
        _one_of("method", self.method, METHODS)
        _one_of("finish", self.finish, FINISHES)
        _one_of("objective", self.objective, OBJECTIVES)
        _one_of("partners", self.partners, PARTNERS)
        _one_of("reply_format", self.reply_format, tuple(FORMATS))
        _one_of("prefixes", self.prefixes, PREFIXES)
        read_curriculum(self.curriculum)
        read_role_shares(self.role_shares)
        read_schedule(self.rogue_bonus_multiplier)
        require_trainable(self.split)
        require_apart(self.first_seed, self.most_episodes)
        self._require_used()

    @property
    def most_episodes(self) -> int:
        """No run makes more. ``menu`` reads whole windows, one ahead, and learns at least once
        from each; how many episodes ``trl`` reads is known when its prompts are drawn."""
        if self.method == "trl":
            return self.episodes or 1
        windows = self.steps
        if self.episodes:
            windows = min(windows, -(-self.episodes // self.window))
        return (windows + 1) * self.window

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
        return "".join(f"{name} = {_toml(value)}\n" for name, value in asdict(self).items())


def _toml(value: str | float | bool) -> str:
    """
    >>> print(_toml('a "b"'), _toml(True), _toml(4e-4))
    "a \\"b\\"" true 0.0004
    """
    if isinstance(value, str):
        # A JSON string is a TOML string, but for DEL, which TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _require_plain(name: str, text: str) -> None:
    """Text that can be written to a file and shown on one line."""
    if text != one_line(text):
        raise BadInput(f"{name} {text!r} holds a character that cannot be printed: leave it out")


def _require_file_name(name: str) -> None:
    """The run's folder is called after it."""
    if not name or len(name) > 100 or "/" in name or "\\" in name or name in (".", ".."):
        raise BadInput(f"name {name[:100]!r}: write 1 to 100 characters that can name a folder")


def _one_of(kind: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise UnknownName(kind, given, allowed)


def load_recipe(path: Path, overrides: Mapping[str, str] | None = None) -> Recipe:
    """A TOML file, with single values replaced."""
    try:
        values = tomllib.loads(read_text(path, "recipe"))
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits too
        raise BadInput(f"{path} is no TOML: {error}") from None
    recipe = _with(Recipe(name=_default_name(path)), values, str(path))
    return _with(recipe, overrides or {}, "the command line", read=True)


def _default_name(path: Path) -> str:
    """The file's name, without what a name may not hold."""
    return one_line(path.stem)[:100] or "unnamed"


def _with(recipe: Recipe, values: Mapping[str, Any], where: str, *, read: bool = False) -> Recipe:
    kinds = {field.name: type(field.default) for field in fields(recipe)}
    checked: dict[str, Any] = {}
    for name, value in values.items():
        if name not in kinds:
            raise UnknownName(f"recipe value in {where}:", name, kinds)
        kind = kinds[name]
        if read:
            value = _read(kind, value)
        if kind is float and type(value) is int:
            value = _as_float(value)
        if kind is str and type(value) in (int, float):
            value = str(value)
        if type(value) is not kind:
            raise BadInput(f"{name} in {where} must be {_KINDS[kind]}, got {str(value)[:100]!r}")
        checked[name] = value
    return replace(recipe, **checked)


def _read(kind: type, text: str) -> Any:
    """A value of the command line as TOML would read it; text may stand without quotes."""
    try:
        values = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    is_read = len(values) == 1 and (kind is not str or isinstance(values["value"], str))
    return values["value"] if is_read else text


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")  # refused like every value out of its range


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
