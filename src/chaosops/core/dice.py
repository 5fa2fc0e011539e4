"""A counter-based generator of our own (SplitMix64).

``random`` may change its helpers between Python versions; a trajectory must not.
Everything here is integer arithmetic, so every machine draws the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1
STRIDE = 0x9E3779B97F4A7C15  # the odd constant SplitMix64 counts by


def mix(counter: int) -> int:
    """64 well-mixed bits for a counter: equal counters give equal bits, forever.

    >>> hex(mix(1)), hex(mix(2))
    ('0x5692161d100b05e5', '0xdbd238973a2b148a')
    """
    z = counter & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def key_of(*parts: int | str) -> int:
    """A 64-bit stream key for a seed and a purpose, independent of PYTHONHASHSEED."""
    text = "\x1f".join(map(str, parts)).encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big")


class Dice:
    """A stream of draws. Two dice with the same key roll the same."""

    __slots__ = ("_counter",)

    def __init__(self, key: int) -> None:
        self._counter = key

    def bits(self) -> int:
        # ``mix``, written out: this is where text rendering spends its time.
        z = self._counter = (self._counter + STRIDE) & _MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """A whole number in ``range(n)``; the bias of at most n / 2**64 does not matter here."""
        return self.bits() % n

    def between(self, low: int, high: int) -> int:
        return low + self.bits() % (high - low + 1)

    def unit(self) -> float:
        """A float in [0, 1) with 53 random bits."""
        return (self.bits() >> 11) * 2.0**-53

    def pick(self, items: Sequence[T]) -> T:
        return items[self.bits() % len(items)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        out = list(items)
        for i in range(len(out) - 1, 0, -1):
            j = self.bits() % (i + 1)
            out[i], out[j] = out[j], out[i]
        return out
