"""Ranges of a recipe's numbers. Each field declares its range beside its default."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import Field, field
from typing import Any, NamedTuple

from chaosops.core.errors import BadInput

_KEY = "range"


class Range(NamedTuple):
    """From ``least`` to ``most``, both included; ``open_below`` excludes ``least``."""

    least: float
    most: float
    open_below: bool = False

    def holds(self, value: float) -> bool:
        # No comparison with NaN is true.
        low = self.least < value if self.open_below else self.least <= value
        return low and value <= self.most

    def __str__(self) -> str:
        """
        >>> print(Range(1, 1_000_000)), print(Range(0, 1.5, open_below=True))
        from 1 to 1,000,000
        above 0 and at most 1.5
        (None, None)
        """
        least, most = _shown(self.least), _shown(self.most)
        return f"above {least} and at most {most}" if self.open_below else f"from {least} to {most}"


def _shown(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:g}"


def whole(default: int, least: int, most: int) -> Any:
    """A field for whole numbers in a range."""
    return field(default=default, metadata={_KEY: Range(least, most)})


def real(default: float, least: float, most: float) -> Any:
    """A field for numbers in a range."""
    return field(default=default, metadata={_KEY: Range(least, most)})


def above(default: float, least: float, most: float) -> Any:
    """A field for numbers greater than ``least``."""
    return field(default=default, metadata={_KEY: Range(least, most, open_below=True)})


def range_of(declared: Field[Any]) -> Range:
    """The declared range. A number without one is a programming error."""
    found: Mapping[str, Any] = declared.metadata
    if _KEY not in found:
        raise TypeError(f"{declared.name} is a number without a range: declare it with whole()")
    allowed: Range = found[_KEY]
    return allowed


def require_in_range(declared: Field[Any], value: Any) -> None:
    allowed = range_of(declared)
    whole_wanted = isinstance(declared.default, int)
    if not isinstance(value, int if whole_wanted else int | float) or isinstance(value, bool):
        raise BadInput(f"{declared.name} must be a number, got {value!r}")
    if not math.isfinite(value) or not allowed.holds(value):
        raise BadInput(f"{declared.name} must be {allowed}, got {value}")
