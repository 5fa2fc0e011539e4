"""Findings of verify: where something was changed, and what."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

# Rewards are short decimals. The last digits of intervals depend on the version of numpy.
RELATIVE, ABSOLUTE = 1e-9, 1e-6
_SHOWN_CHARS = 80
_MISSING = object()

Path = tuple[str | int, ...]


class Episode(NamedTuple):
    """Which episode a finding is about."""

    policy: str
    tier: str
    seed: object

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Episode:
        scenario = line.get("scenario")
        scenario = scenario if isinstance(scenario, dict) else {}
        tier = str(scenario.get("tier"))
        where = f"{scenario['failure']}, {tier}" if "failure" in scenario else tier
        return cls(str(line.get("policy")), where, scenario.get("seed"))

    def __str__(self) -> str:
        return f"{plain(self.policy)}, {plain(self.tier)}, seed {shown(self.seed)}"


class Finding(NamedTuple):
    """
    >>> print(Finding("results.json", "reward is -2, recorded 7", Episode("oracle", "hard", 3), 4))
    results.json: oracle, hard, seed 3, turn 4: reward is -2, recorded 7
    """

    file: str
    what: str
    episode: Episode | None = None
    turn: int | None = None

    def __str__(self) -> str:
        where = [] if self.episode is None else [str(self.episode)]
        where += [] if self.turn is None else [f"turn {self.turn}"]
        return ": ".join([self.file, *([", ".join(where)] if where else []), self.what])

    def words(self) -> str:
        """The finding without file and episode."""
        return self.what if self.turn is None else f"turn {self.turn}: {self.what}"

    def to_wire(self) -> dict[str, Any]:
        place = {} if self.episode is None else self.episode._asdict()
        turn = {} if self.turn is None else {"turn": self.turn}
        return {"file": self.file, **place, **turn, "what": self.what}


class Difference(NamedTuple):
    path: Path
    recorded: Any
    found: Any

    def words(self, skip: int = 0) -> str:
        name = " ".join(map(str, self.path[skip:])) or "it"
        return f"{name} is {shown(self.found)}, recorded {shown(self.recorded)}"

    def in_turn(self) -> tuple[int | None, str]:
        """For an episode's line: the turn and the words. None means the whole episode."""
        if self.path[0] != "turns" or len(self.path) < 2:
            return None, self.words()
        return int(self.path[1]) + 1, self.words(skip=2)

    def change(self) -> str:
        """The words for two versions of which neither is wrong."""
        name = " ".join(map(str, self.path))
        if _MISSING in (self.found, self.recorded):
            return f"{name} is {'new' if self.recorded is _MISSING else 'missing'}"
        return f"{name} was {shown(self.recorded)}, is {shown(self.found)}"


def differences(recorded: Any, found: Any, path: Path = ()) -> Iterator[Difference]:
    """
    >>> [d.words() for d in differences({"a": [1, 2.0]}, {"a": [1, 2.5], "b": None})]
    ['a 1 is 2.5, recorded 2.0', 'b is null, recorded nothing']
    """
    if isinstance(recorded, dict) and isinstance(found, dict):
        for key in {**found, **recorded}:
            was, now = recorded.get(key, _MISSING), found.get(key, _MISSING)
            yield from differences(was, now, (*path, key))
    elif isinstance(recorded, list) and isinstance(found, list):
        for i in range(max(len(recorded), len(found))):
            was, now = (of[i] if i < len(of) else _MISSING for of in (recorded, found))
            yield from differences(was, now, (*path, i))
    # A suspicion may be far below ABSOLUTE, and metrics depend on its rank.
    elif not same(recorded, found, 0.0 if "suspicion" in path else ABSOLUTE):
        yield Difference(path, recorded, found)


def same(recorded: Any, found: Any, absolute: float) -> bool:
    kinds = {type(recorded), type(found)}
    if float in kinds and kinds <= {int, float}:
        return math.isclose(recorded, found, rel_tol=RELATIVE, abs_tol=absolute)
    return type(recorded) is type(found) and bool(recorded == found)


def plain(name: str) -> str:
    """A name with invisible characters escaped.

    >>> plain("heuristic\\u200b")
    'heuristic\\\\u200b'
    """
    return ascii(name)[1:-1]


def shown(value: Any) -> str:
    """A value as short JSON without control characters."""
    if value is _MISSING:
        return "nothing"
    words = {None: "null", True: "true", False: "false"}
    text = words[value] if value is None or isinstance(value, bool) else ascii(value)
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 3] + "..."
