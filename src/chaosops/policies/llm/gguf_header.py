"""The header of a GGUF file: its facts and the shapes of its tensors.

The ``gguf`` package also reads the whole vocabulary, which takes two seconds.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput

# A value's type in the file -> its code in struct. 8 and 9 are not numbers.
_NUMBERS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_MOST = 1_000_000  # entries of a list, tensors, or bytes of a name


class GgufHeader:
    """``facts``: numbers and texts by name. ``shapes``: by tensor, outermost dimension first."""

    def __init__(self, path: Path) -> None:
        self.facts: dict[str, Any] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        try:
            with path.open("rb") as self._file:
                self._read()
        except OSError as error:
            raise BadInput(f"cannot read {path}: {error.strerror or error}") from None
        except (struct.error, ValueError, KeyError) as error:
            raise BadInput(f"{path} is not a GGUF file: {str(error)[:80]}") from None

    def _read(self) -> None:
        if self._file.read(4) != b"GGUF":
            raise ValueError("it does not begin with GGUF")
        _version, tensors, facts = self._number("I"), self._count(), self._count()
        for _ in range(facts):
            name, kind = self._text(), self._number("I")
            value = self._value(kind)
            if value is not None:
                self.facts[name] = value
        for _ in range(tensors):
            name = self._text()
            dimensions = [self._number("Q") for _ in range(self._number("I"))]
            self.shapes[name] = tuple(reversed(dimensions))
            _type, _offset = self._number("I"), self._number("Q")

    def _value(self, kind: int) -> Any:
        """None for a list, which is skipped."""
        if kind == _STRING:
            return self._text()
        if kind != _ARRAY:
            return self._number(_NUMBERS[kind])
        inner, count = self._number("I"), self._count()
        for _ in range(count):
            self._value(inner)
        return None

    def _number(self, kind: str) -> Any:
        (value,) = struct.unpack("<" + kind, self._file.read(struct.calcsize("<" + kind)))
        return value

    def _text(self) -> str:
        size = self._count()
        raw = self._file.read(size)
        if len(raw) < size:
            raise ValueError("it is cut off")
        return raw.decode("utf-8", "replace")

    def _count(self) -> int:
        count: int = self._number("Q")
        if count > _MOST:
            raise ValueError(f"it claims {count} entries")
        return count
