"""The header of a GGUF file: its facts and the shapes of its tensors.

The ``gguf`` package also reads the whole vocabulary, which takes two seconds.
"""

from __future__ import annotations

import mmap
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
            with (
                path.open("rb") as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw,
            ):
                self._raw: mmap.mmap = raw
                self._at = 0
                self._read()
        except OSError as error:
            raise BadInput(f"cannot read {path}: {error.strerror or error}") from None
        except (struct.error, ValueError, KeyError) as error:
            raise BadInput(f"{path} is no GGUF file: {str(error)[:80]}") from None

    def _read(self) -> None:
        if self._raw[:4] != b"GGUF":
            raise ValueError("it does not begin with GGUF")
        self._at = 8
        tensors, facts = self._number("Q"), self._number("Q")
        for _ in range(self._bounded(facts)):
            name, kind = self._text(), self._number("I")
            value = self._value(kind)
            if value is not None:
                self.facts[name] = value
        for _ in range(self._bounded(tensors)):
            name = self._text()
            dimensions = [self._number("Q") for _ in range(self._number("I"))]
            self.shapes[name] = tuple(reversed(dimensions))
            self._at += 12  # its type and its offset

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._text()
        if kind == _ARRAY:
            inner, count = self._number("I"), self._bounded(self._number("Q"))
            if inner in _NUMBERS:
                self._at += count * struct.calcsize("<" + _NUMBERS[inner])
            else:
                for _ in range(count):
                    self._value(inner)
            return None
        return self._number(_NUMBERS[kind])

    def _number(self, kind: str) -> Any:
        (value,) = struct.unpack_from("<" + kind, self._raw, self._at)
        self._at += struct.calcsize("<" + kind)
        return value

    def _text(self) -> str:
        size = self._bounded(self._number("Q"))
        raw = self._raw[self._at : self._at + size]
        if len(raw) < size:
            raise ValueError("it is cut off")
        self._at += size
        return bytes(raw).decode("utf-8", "replace")

    def _bounded(self, count: int) -> int:
        if count > _MOST:
            raise ValueError(f"it claims {count} entries")
        return count
