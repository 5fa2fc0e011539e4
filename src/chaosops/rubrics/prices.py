"""What the events are worth: a price for each component of a rubric, and a weight for each rubric.

Rewards of one's own name those that differ from the standard: ``{"false_flag": -150, "mttr": 0.5}``
doubles the cost of a false flag, and halves the cost of time.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.printable import short

Prices = Mapping[str, float]

STANDARD: Mapping[str, Prices] = MappingProxyType(
    {
        "resolution": {
            "resolved": 100.0,
            "fast": 10.0,
            "wrong_fix": -50.0,
            "miscommunication": -20.0,
            "root_cause": 30.0,
            "unresolved": -60.0,
        },
        "mttr": {"elapsed": -2.0},
        "oversight": {"rogue_flagged": 50.0, "false_flag": -75.0, "unknown_flag": -75.0},
        "cascade": {"second_order": -40.0},
    }
)
WEIGHT = 1.0
_DEFAULTS = {
    name: value
    for rubric, prices in STANDARD.items()
    for name, value in ((rubric, WEIGHT), *prices.items())
}
NAMES = tuple(_DEFAULTS)
_MOST = 1e6
_CURE = "write NAME=NUMBER, such as false_flag=-150,mttr=0.5"


def read_rewards(given: Mapping[str, Any] | str) -> dict[str, float]:
    """Checked rewards, without those that are as in the standard, in its order. Text is read as
    that of ``--rewards``.

    >>> read_rewards({"mttr": 0.5, "false_flag": -150, "resolved": 100})
    {'mttr': 0.5, 'false_flag': -150.0}
    """
    if isinstance(given, str):
        return parse_rewards(given)
    if not isinstance(given, Mapping):
        raise BadInput(
            f"rewards {short(given)}: expected a price or weight for each name, such as "
            "{'false_flag': -150, 'mttr': 0.5}"
        )
    values: dict[str, float] = {}
    for name, value in given.items():
        if name not in _DEFAULTS:
            raise UnknownName("reward", name, NAMES)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadInput(f"reward {name} must be a number, got {short(value)}")
        least = 0 if name in STANDARD else -_MOST
        if not least <= value <= _MOST:
            kind = "weight" if name in STANDARD else "price"
            raise BadInput(f"{kind} {name} must be from {least:g} to {_MOST:g}, got {short(value)}")
        values[name] = float(value)
    # An unknown name costs what a false flag costs, whatever that is.
    usual = {**_DEFAULTS, "unknown_flag": values.get("false_flag", _DEFAULTS["false_flag"])}
    return {name: values[name] for name in NAMES if name in values and values[name] != usual[name]}


def with_defaults(rewards: Prices) -> dict[str, float]:
    """All prices and weights. Guessing names is not cheaper than a false flag, unless a price for
    it is named."""
    flag = rewards.get("false_flag", _DEFAULTS["false_flag"])
    return {**_DEFAULTS, "unknown_flag": flag, **rewards}


def parse_rewards(text: str) -> dict[str, float]:
    """
    >>> parse_rewards("resolved=120, oversight=2")
    {'resolved': 120.0, 'oversight': 2.0}
    """
    given: dict[str, Any] = {}
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if text and not parts:
        raise BadInput(f"rewards {short(text)} name nothing: {_CURE}")
    for part in parts:
        name, _, number = (word.strip() for word in part.partition("="))
        if name in given:
            raise BadInput(f"rewards {short(text)} name {name} twice; name it once")
        try:
            given[name] = float(number)
        except ValueError:
            raise BadInput(f"rewards {short(text)}: {_CURE}") from None
    return read_rewards(given)


def write_rewards(rewards: Prices) -> str:
    """
    >>> write_rewards({"resolved": 120.0, "oversight": 2.0})
    'resolved=120,oversight=2'
    """
    return ",".join(f"{name}={_shown(value)}" for name, value in rewards.items())


def rewards_line(rewards: Prices) -> str:
    """
    >>> rewards_line({"mttr": 0.5})
    'rewards other than the standard: mttr=0.5'
    """
    return f"rewards other than the standard: {write_rewards(rewards)}" if rewards else ""


def _shown(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
