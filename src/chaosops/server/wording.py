"""What pydantic found, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def in_one_line(errors: Sequence[Any]) -> str:
    """What is wrong with the first of pydantic's findings, and how many there are. The input is
    left out: not everything can be quoted.

    >>> in_one_line([{"loc": ("seed",), "msg": "Input should be a valid integer"}])
    'seed: Input should be a valid integer'
    """
    place = ".".join(map(str, errors[0]["loc"]))
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return ": ".join(filter(None, (place, errors[0]["msg"]))) + more
