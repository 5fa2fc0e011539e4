"""Errors of pydantic in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def in_one_line(errors: Sequence[Any]) -> str:
    """The first error, and how many more there are. Without the input, because not every input
    can be quoted.

    >>> in_one_line([{"loc": ("seed",), "msg": "Input should be a valid integer"}])
    'seed: Input should be a valid integer'
    """
    place = ".".join(map(str, errors[0]["loc"]))
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return ": ".join(filter(None, (place, errors[0]["msg"]))) + more
