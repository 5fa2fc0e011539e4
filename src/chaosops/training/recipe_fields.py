"""How a recipe declares a value: its default, what is allowed, and which method uses it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import Field, field
from functools import partial
from typing import Any, NamedTuple

from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.printable import one_line


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


def number(
    default: float, least: float, most: float, *, open_below: bool = False, only: str | None = None
) -> Any:
    """A number in a range. If the default is a whole number, every value must be one."""
    return field(default=default, metadata={"range": Range(least, most, open_below), "only": only})


above = partial(number, open_below=True)


def choice(default: str, names: Iterable[str], *, only: str | None = None) -> Any:
    return field(default=default, metadata={"names": tuple(names), "only": only})


def switch(*, only: str) -> Any:
    return field(default=False, metadata={"only": only})


def require_allowed(declared: Field[Any], value: Any) -> None:
    name, default, metadata = declared.name, declared.default, declared.metadata
    if isinstance(value, str) and value != one_line(value):
        raise BadInput(f"{name} {value!r} holds a character that cannot be printed: leave it out")
    if "names" in metadata and value not in metadata["names"]:
        raise UnknownName(name, value, metadata["names"])
    if type(default) not in (int, float):
        return
    if "range" not in metadata:
        raise TypeError(f"{name} is a number without a range: declare it with number()")
    kinds = int if type(default) is int else int | float
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise BadInput(f"{name} must be a number, got {value!r}")
    if not metadata["range"].holds(value):
        raise BadInput(f"{name} must be {metadata['range']}, got {value}")


def toml_value(value: str | float | bool) -> str:
    """
    >>> print(toml_value('a "b"'), toml_value(True), toml_value(4e-4))
    "a \\"b\\"" true 0.0004
    """
    if isinstance(value, str):
        # A JSON string is a TOML string, except that TOML wants DEL escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, bool) else repr(value)
