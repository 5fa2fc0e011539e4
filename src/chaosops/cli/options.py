"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import nan, ulp
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from chaosops.access.tokens import VARIABLE
from chaosops.core import vocabulary
from chaosops.core.errors import BadInput
from chaosops.core.lists import split_list
from chaosops.core.printable import short
from chaosops.core.scenario import Scenario
from chaosops.packs import (
    DEFAULT_PACK,
    DEFAULT_SEED,
    DEFAULT_TIER,
    PACKS,
    load_pack,
    loadable_packs,
    make_scenario,
)
from chaosops.policies.registry import MODEL_FORMS, OWN_FORMS, installed_policies, registered
from chaosops.workers import Engine
from chaosops.world import incident

_MOST = 1_000_000  # the largest count: a larger one is a typing error


def within(read: Callable[[str], float], least: float, most: float, expected: str) -> Parameter:
    def convert(kind: Any, tokens: Sequence[Token]) -> float:
        text = tokens[-1].value
        try:
            value = read(text)
        except ValueError:
            value = nan
        if not least <= value <= most:
            raise ValueError(f"expected {expected}, got {short(text)}")
        return value

    return Parameter(converter=convert)


def whole(least: int, most: int = _MOST) -> Parameter:
    return within(int, least, most, f"a whole number from {least} to {most}")


def _names(kind: Any, tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(name.strip() for name in split_list(tokens[-1].value) if name.strip())


def _not_empty(kind: Any, tokens: Sequence[Token]) -> str:
    """The default of an option may be no text. Typed, that is a variable of the shell unset."""
    text = tokens[-1].value
    if not text:
        raise ValueError("expected a value, got ''; leave the option out for its default")
    return text


Seed = Annotated[int, whole(0, 2**63 - 1)]
Count = Annotated[int, whole(1)]
Seconds = Annotated[float, within(float, 0, 3600, "seconds from 0 to 3600")]
SomeSeconds = Annotated[float, within(float, ulp(0), 3600, "more than 0 seconds and at most 3600")]
Share = Annotated[float, within(float, ulp(0), 1 - ulp(1), "a share between 0 and 1")]
WorkerCount = Annotated[int | None, whole(1, 1024), Parameter(metavar="N")]
RayAddress = Annotated[
    str | None,
    Parameter(
        metavar="ADDRESS",
        help="play on a Ray cluster: its address, auto, or local to start one on this machine",
    ),
]
Names = Annotated[tuple[str, ...], Parameter(converter=_names, metavar="A,B")]
Pairs = Annotated[tuple[str, ...], Parameter(metavar="NAME=VALUE")]
File = Annotated[Path, Parameter(metavar="FILE")]
Folder = Annotated[Path, Parameter(metavar="FOLDER")]
CommandLine = Annotated[str, Parameter(parse=False)]  # what was typed, for manifests
Pack = Annotated[
    str | None,
    Parameter(
        choices=PACKS,
        help="a family of incidents",
        show_default=f"the split's, or {DEFAULT_PACK}",
    ),
]
Tier = Annotated[vocabulary.Tier, Parameter(name=["--tier", "--difficulty"], help="difficulty")]
_PACKS = loadable_packs()


def _of_each(listed: Callable[[incident.Pack], Sequence[str]], default: str) -> Parameter:
    """The names that the packs have of a kind. The help says of which pack each of them is."""
    names = {pack.name: listed(pack) for pack in _PACKS if listed(pack)}
    return Parameter(
        choices=tuple(dict.fromkeys(chain(*names.values()))),
        show_choices=False,
        help="; ".join(f"{pack}: {', '.join(of)}" for pack, of in names.items()),
        show_default=default,
    )


Split = Annotated[
    str | None,
    _of_each(
        lambda pack: pack.splits, ", ".join(pack.default_split for pack in _PACKS if pack.splits)
    ),
]
Mechanisms = Annotated[
    File | None,
    Parameter(help="play faults of your own, from a TOML file (docs/arena_adding.md)"),
]
Json = Annotated[bool, Parameter(help="print JSON")]
Otlp = Annotated[
    str | None,
    Parameter(
        metavar="FILE|URL",
        help="write the episode as a trace of OpenTelemetry to this file, or send it to the server "
        "at http://HOST:PORT (docs/otlp.md)",
    ),
]
NoFigures = Annotated[bool, Parameter(help="write no PNG files")]
_POLICIES = (
    f"{', '.join((*registered(), *installed_policies()))}; a model ({', '.join(MODEL_FORMS)}); "
    f"your own ({', '.join(OWN_FORMS)}: docs/own_policies.md)"
)
_TEAM = "or a team such as oversight=local:smollm2,others=heuristic"
Policy = Annotated[str, Parameter(help=f"{_POLICIES}; {_TEAM}")]
Rewards = Annotated[
    str,
    Parameter(
        converter=_not_empty,
        metavar="NAME=NUMBER,…",
        help="prices and weights other than the standard, such as false_flag=-150,mttr=0.5 "
        "(docs/rewards.md)",
    ),
]
PolicySeed = Annotated[Seed, Parameter(help="seed of the policy's random draws")]
Url = Annotated[str, Parameter(help="address of the server: http://HOST:PORT")]
ServerToken = Annotated[
    File | None,
    Parameter(help=f"file with the server's token, if it asks for one [default: ${VARIABLE}]"),
]
SecretFile = Annotated[File, Parameter(help="secret of evaluation mode, from chaosops secret")]
ResultsFolder = Annotated[Folder, Parameter(help="folder of the submissions and their results")]


@Parameter(name="*")
@dataclass(frozen=True)
class ScenarioOptions:
    """Which episode to play. An option that is None gets the default of ``make_scenario``.

    Attributes:
        seed: seed of the incident
        max_steps: step limit [default: the tier's]
    """

    pack: Pack = None
    scenario: Annotated[
        str | None,
        _of_each(lambda pack: pack.failures(), load_pack(DEFAULT_PACK).default_failure),
    ] = None
    split: Split = None
    tier: Tier = DEFAULT_TIER
    seed: Seed = DEFAULT_SEED
    max_steps: Count | None = None
    mechanisms: Mechanisms = None

    def chosen(self) -> Scenario:
        return make_scenario(
            self.scenario,
            tier=self.tier,
            seed=self.seed,
            limit=self.max_steps,
            pack=self.pack,
            split=self.split,
            mechanisms=self.mechanisms or "",
        )


PLAYED = ScenarioOptions()


@Parameter(name="*")
@dataclass(frozen=True)
class EngineOptions:
    """Where episodes are played. None of these changes a result.

    Attributes:
        workers: processes that play [default: this one; with --ray, as many as its CPUs or GPUs]
        gpus: GPUs of each worker of Ray; 0.5 for two workers on one GPU
    """

    workers: WorkerCount = None
    ray: RayAddress = None
    gpus: Annotated[float, within(float, 0, 64, "a number from 0 to 64")] = 0.0

    def engine(self) -> Engine:
        return Engine(self.workers, self.ray, self.gpus)


HERE = EngineOptions()


def pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """
    >>> pairs(["A=B", "c=d=e"], "--env")
    {'A': 'B', 'c': 'd=e'}
    """
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name or "=" not in text:
            raise BadInput(f"{option} {text!r}: write NAME=VALUE")
        found[name.strip()] = value
    return found


def recipe_settings(texts: Sequence[str]) -> dict[str, str]:
    """The values that ``--set`` replaces in a recipe."""
    named = pairs(texts, "--set")
    return {name.replace("-", "_"): value.strip() for name, value in named.items()}
