"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from chaosops.access.tokens import VARIABLE
from chaosops.core import vocabulary
from chaosops.core.scenario import Scenario
from chaosops.packs import (
    DEFAULT_PACK,
    DEFAULT_SEED,
    DEFAULT_TIER,
    GENERATED_PACK,
    PACKS,
    load_pack,
    make_scenario,
    splits,
)
from chaosops.policies.registry import MODEL_FORMS, registered

_MOST = 1_000_000  # of anything that is counted: more is a slip of the hand
_DEFAULT = load_pack(DEFAULT_PACK)
ROLES = tuple(role.value for role in vocabulary.Role)
TIERS = tuple(tier.value for tier in vocabulary.Tier)


def _reader(read: Callable[[str], Any]) -> Callable[[Any, Sequence[Token]], Any]:
    return lambda kind, tokens: read(tokens[-1].value)


def whole(least: int, most: int = _MOST, **more: Any) -> Parameter:
    """A whole number in a range."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise ValueError(
                f"expected a whole number from {least} to {most}, got {_short(text)!r}"
            )
        return value

    return Parameter(converter=_reader(read), **more)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 3600:
        raise ValueError(f"expected seconds from 0 to 3600, got {_short(text)!r}")
    return value


def _some_seconds(text: str) -> float:
    value = _seconds(text)
    if value == 0:
        raise ValueError("expected more than 0 seconds")
    return value


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


Seed = Annotated[int, whole(0, 2**63 - 1)]
Count = Annotated[int, whole(1)]
Seconds = Annotated[float, Parameter(converter=_reader(_seconds))]
SomeSeconds = Annotated[float, Parameter(converter=_reader(_some_seconds))]
Names = Annotated[tuple[str, ...], Parameter(converter=_reader(_names), metavar="A,B")]
Pack = Annotated[
    str | None,
    Parameter(
        choices=PACKS, help="a family of incidents", show_default=f"the split's, or {DEFAULT_PACK}"
    ),
]
Tier = Annotated[str, Parameter(name=["--tier", "--difficulty"], choices=TIERS, help="how hard")]
Split = Annotated[
    str | None,
    Parameter(help=f"of the {GENERATED_PACK} pack: {', '.join(splits())}", show_default="test"),
]
Json = Annotated[bool, Parameter(help="print JSON")]
NoFigures = Annotated[bool, Parameter(help="write no PNG files")]
File = Annotated[Path, Parameter(metavar="FILE")]
Folder = Annotated[Path, Parameter(metavar="FOLDER")]
CommandLine = Annotated[str, Parameter(parse=False)]  # what was typed, for manifests
Policy = Annotated[
    str,
    Parameter(
        help=f"{', '.join(registered())}; a model ({', '.join(MODEL_FORMS)}); or a team such as "
        "oversight=local:smollm2,others=heuristic"
    ),
]
Url = Annotated[str, Parameter(help="of the server: http://HOST:PORT")]
ServerToken = Annotated[
    Path | None,
    Parameter(
        metavar="FILE",
        help=f"holds the token of a server that asks for one (default: ${VARIABLE})",
    ),
]
SecretFile = Annotated[
    Path,
    Parameter(metavar="FILE", help="with the secret of evaluation mode, from chaosops secret"),
]
ResultsFolder = Annotated[
    Path,
    Parameter(
        metavar="FOLDER",
        help="with the submissions of evaluation mode; their results are written there",
    ),
]


@Parameter(name="*")
@dataclass(frozen=True)
class ScenarioOptions:
    """Which episode to play. What is None gets the default of ``make_scenario``."""

    pack: Pack = None
    scenario: Annotated[
        str | None,
        Parameter(
            help=f"of the {DEFAULT_PACK} pack: {', '.join(_DEFAULT.failures())}",
            show_default=_DEFAULT.default_failure,
        ),
    ] = None
    split: Split = None
    tier: Tier = DEFAULT_TIER.value
    seed: Seed = DEFAULT_SEED
    max_steps: Annotated[int | None, whole(1, show_default="the tier's limit")] = None

    def chosen(self) -> Scenario:
        return make_scenario(
            self.scenario or None,
            tier=self.tier,
            seed=self.seed,
            limit=self.max_steps,
            pack=self.pack,
            split=self.split or None,
        )


PLAYED = ScenarioOptions()
