"""Faults that a user brings along in a TOML file. docs/arena_adding.md describes the format."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_text
from chaosops.packs.arena.agents import AGENTS
from chaosops.packs.arena.company import KINDS
from chaosops.packs.arena.mechanism import STOCKS, Mechanism, Modifiers, Shows
from chaosops.packs.arena.runbook import REMEDIES

MOST = 12  # mechanisms in a file: a runbook has about as many pages
_MOST_BYTES = 2**20  # far more than twelve entries need
_NAME = re.compile(r"[a-z][a-z0-9_]{1,39}")
_DIRECTIONS = {"down": -1, "up": 1}
_SHOWS = (Shows.HERE.value, Shows.BELOW.value)
_REMEDIES = {kind.verb: kind for kind in REMEDIES}
_FILES: dict[str, Path] = {}  # where texts were read, for errors that a company shows later


def read_mechanisms(path: Path) -> str:
    """The mechanisms of a file, checked, as text that a scenario can hold."""
    try:
        content = tomllib.loads(read_text(path, "mechanisms", _MOST_BYTES))
    except RecursionError:
        raise BadInput(f"{path} is not TOML that can be read: it is nested too deeply") from None
    except ValueError as error:  # also a number with too many digits
        raise BadInput(f"{path} is not TOML: {error}") from None
    try:
        # A date has no place in the format: as text it is refused where it stands.
        text = json.dumps(_entries(content), sort_keys=True, default=str)
        parse_mechanisms(text)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    _FILES[text] = path
    return text


def in_file(text: str, problem: object) -> str:
    """A problem with mechanisms, after the name of the file in which this process read them."""
    return f"{_FILES[text]}: {problem}" if text in _FILES else str(problem)


@lru_cache(maxsize=64)
def parse_mechanisms(text: str) -> tuple[Mechanism, ...]:
    entries = json.loads(text)
    found = tuple(_mechanism(entry, number) for number, entry in enumerate(entries, 1))
    names = [name for one in found for name in (one.id, one.setting)]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"'{name}' is used twice; every id and setting needs its own name")
    return found


def _entries(content: Mapping[str, Any]) -> list[Any]:
    entries = content.get("mechanism")
    if not isinstance(entries, list) or not entries or set(content) != {"mechanism"}:
        raise BadInput("expected [[mechanism]] entries and nothing else")
    if len(entries) > MOST:
        raise BadInput(f"{len(entries)} mechanisms; at most {MOST} are allowed")
    return entries


def _mechanism(entry: Mapping[str, Any], number: int) -> Mechanism:
    if not isinstance(entry, dict):
        raise BadInput("expected [[mechanism]] entries and nothing else")
    where = f"mechanism {entry.get('id', number)!r}"
    fields = _FIELDS | _OPTIONAL
    for key in entry:
        if key not in fields:
            raise BadInput(f"{where}: unknown key {key!r}; allowed: {', '.join(fields)}")
    values = {}
    for key, (read, allowed) in fields.items():
        if key not in entry:
            if key in _OPTIONAL:
                continue
            raise BadInput(f"{where}: '{key}' is missing; it must be {allowed}")
        try:
            values[key] = read(entry[key])
        except (ValueError, TypeError, KeyError):
            raise BadInput(f"{where}: {key} = {entry[key]!r}; it must be {allowed}") from None
    return Mechanism(**values)


def _require(right: bool) -> None:
    if not right:
        raise ValueError


def _name(value: Any) -> str:
    _require(isinstance(value, str) and _NAME.fullmatch(value) is not None)
    return str(value)


def _setting(value: Any) -> str:
    _require(value != "replicas")  # a company has values of its own for it
    return _name(value)


def _chosen(allowed: tuple[str, ...]) -> Callable[[Any], tuple[str, ...]]:
    def read(value: Any) -> tuple[str, ...]:
        _require(isinstance(value, list) and bool(value) and set(value) <= set(allowed))
        return tuple(dict.fromkeys(value))

    return read


def _values(value: Any) -> tuple[int, int]:
    low, high = value
    # Below five, one act moves a value by more than a threshold.
    _require(type(low) is int and type(high) is int and 5 <= low <= high <= 1_000_000)
    return low, high


def _number(low: float, high: float) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        _require(type(value) in (int, float) and low <= value <= high)
        return float(value)

    return read


_RANGES = {"capacity": (0.05, 1.0), "errors": (0.0, 0.95), "latency": (1.0, 100.0),
           "inflow": (0.1, 100.0), "outflow": (0.1, 100.0)}  # fmt: skip


def _effect(value: Any) -> Modifiers:
    _require(isinstance(value, dict) and set(value) <= set(_RANGES))
    effect = Modifiers(**{key: _number(*_RANGES[key])(number) for key, number in value.items()})
    _require(
        effect.capacity < 1
        or effect.errors > 0
        or max(effect.latency, effect.inflow, effect.outflow) > 1
    )
    return effect


def _logs(value: Any) -> tuple[str, ...]:
    _require(isinstance(value, list) and 1 <= len(value) <= 6)
    for line in value:
        _require(isinstance(line, str) and 3 <= len(line) <= 80 and line.isprintable())
        # Tags of chat templates would end a message in a prompt.
        _require(not any(mark in line.replace("{n}", "") for mark in ("{", "}", "<|", "|>")))
    return tuple(value)


def _one_of(allowed: tuple[str, ...]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        _require(value in allowed)
        return str(value)

    return read


_FIELDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "id": (_name, "a name in small letters, digits and _ (2 to 40, a letter first)"),
    "setting": (
        _setting,
        "a name in small letters, digits and _ (2 to 40, a letter first), and not replicas",
    ),
    "harmful": (lambda value: _DIRECTIONS[value], "down or up"),
    "values": (_values, "two whole numbers from 5 to 1000000, the smaller one first"),
    "changed_by": (_chosen(tuple(AGENTS)), f"a list of some of: {', '.join(AGENTS)}"),
    "strikes": (_chosen(KINDS), f"a list of some of: {', '.join(KINDS)}"),
    "effect": (
        _effect,
        "harmful: " + ", ".join(f"{key} from {a} to {b}" for key, (a, b) in _RANGES.items()),
    ),
    "remedy": (lambda value: _REMEDIES[value], f"one of: {', '.join(_REMEDIES)}"),
    "logs": (
        _logs,
        "one to six lines of 3 to 80 characters, without braces but {n} and without <| and |>",
    ),
}
_OPTIONAL: dict[str, tuple[Callable[[Any], Any], str]] = {
    "shows": (lambda value: Shows(_one_of(_SHOWS)(value)), f"one of: {', '.join(_SHOWS)}"),
    "severity": (_number(0.05, 1.0), "a number from 0.05 to 1"),
    "growth": (_number(0.0, 0.5), "a number from 0 to 0.5"),
    "stock": (_one_of(STOCKS), f"one of: {', '.join(STOCKS)}"),
}
