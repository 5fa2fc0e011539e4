"""Which job a journal is of: is it the same one, and what have its policies learned since?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def as_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """As it will be read back: tuples are lists there, keys are strings."""
    content: dict[str, Any] = json.loads(json.dumps(data))
    return content


def joined(first: Any, earlier: Any, now: Any) -> Any:
    """
    >>> joined({"revision": None}, {"revision": "a"}, {"revision": None})
    {'revision': 'a'}
    >>> joined({"revision": None}, {"revision": "a"}, {"revision": "b"})
    {'revision': 'a, then b'}
    """
    if isinstance(first, dict) and isinstance(earlier, dict) and isinstance(now, dict):
        return {
            key: joined(first.get(key), earlier.get(key), now.get(key)) for key in now | earlier
        }
    if now in (earlier, first) or str(earlier).endswith(f", then {now}"):
        return earlier
    return now if earlier == first else f"{earlier}, then {now}"


def differences(then: Mapping[str, Any], now: Mapping[str, Any], path: str = "") -> list[str]:
    """
    >>> differences({"version": "1", "policies": {}}, {"version": "2", "policies": {"oracle": {}}})
    ["version was '1', is '2'", 'policies oracle is new']
    """
    found = []
    for key in {**then, **now}:
        name, before, after = f"{path}{key}", then.get(key), now.get(key)
        if key not in then or key not in now:
            found.append(f"{name} is {'new' if key in now else 'missing'}")
        elif isinstance(before, dict) and isinstance(after, dict):
            found += differences(before, after, f"{name} ")
        elif isinstance(before, list) and isinstance(after, list) and before != after:
            found.append(_list_difference(name, before, after))
        elif before != after:
            found.append(f"{name} was {before!r}, is {after!r}")
    return found


def _list_difference(name: str, before: Sequence[Any], after: Sequence[Any]) -> str:
    if len(before) != len(after):
        return f"{len(before)} {name}, now {len(after)}"
    first = next(i for i in range(len(after)) if before[i] != after[i])
    return f"{name} differ from the {first + 1}. on: was {before[first]}, is {after[first]}"
