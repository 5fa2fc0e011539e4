"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from chaosops.access.tokens import VARIABLE
from chaosops.core import vocabulary
from chaosops.core.scenario import BY_HAND_LIMIT, Scenario
from chaosops.packs import PACKS, load_pack, make_scenario
from chaosops.policies.registry import MODEL_FORMS, POLICY_NAMES

_MOST = 1_000_000  # of anything that is counted: more is a slip of the hand
SPLITS = tuple(dict.fromkeys(split for name in PACKS for split in load_pack(name).splits))
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
Pack = Annotated[str, Parameter(choices=PACKS, help="a family of incidents")]
Tier = Annotated[str, Parameter(name=["--tier", "--difficulty"], choices=TIERS, help="how hard")]
Split = Annotated[str, Parameter(help=f"of the arena pack: {', '.join(SPLITS)}")]
Json = Annotated[bool, Parameter(help="print JSON")]
NoFigures = Annotated[bool, Parameter(help="write no PNG files")]
File = Annotated[Path, Parameter(metavar="FILE")]
Folder = Annotated[Path, Parameter(metavar="FOLDER")]
CommandLine = Annotated[str, Parameter(parse=False)]  # what was typed, for manifests
Policy = Annotated[
    str,
    Parameter(
        help=f"{', '.join(POLICY_NAMES)}; a model ({', '.join(MODEL_FORMS)}); or a team such as "
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
    """Which episode to play."""

    pack: Pack = "classic"
    scenario: Annotated[
        str,
        Parameter(
            help=f"of the classic pack: {', '.join(load_pack('classic').failures())}",
            show_default="autoscaler_cost_cut",
        ),
    ] = ""
    split: Annotated[Split, Parameter(show_default="train")] = ""
    tier: Tier = "hard"
    seed: Seed = 42
    max_steps: Annotated[
        int | None, whole(1, help="step limit", show_default="classic: 20; arena: the tier's")
    ] = None

    def chosen(self) -> Scenario:
        has_splits = bool(load_pack(self.pack).splits)
        return make_scenario(
            self.scenario or ("" if has_splits else "autoscaler_cost_cut"),
            tier=self.tier,
            seed=self.seed,
            limit=self.max_steps or (None if has_splits else BY_HAND_LIMIT),
            pack=self.pack,
            split=self.split or ("train" if has_splits else ""),
        )


PLAYED = ScenarioOptions()
