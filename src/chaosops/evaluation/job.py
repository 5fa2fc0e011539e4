"""Compare the job of a journal with another, and merge the statuses of its policies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from chaosops.evaluation.findings import differences

_SHOWN = 4


def as_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data as JSON returns it: tuples become lists, keys strings."""
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


def changes(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What makes this job another one; empty where it is the same.

    >>> changes({"version": "1", "policies": {}}, {"version": "2", "policies": {"oracle": {}}})
    "version was '1', is '2'; policies oracle is new"
    """
    found = list(differences(then, now))
    named = "; ".join(one.change() for one in found[:_SHOWN])
    return named + (f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
