"""A counter-based random number generator (SplitMix64).

Python's ``random`` may change between versions. This is integer arithmetic only, so every machine
and every version draws the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1
STRIDE = 0x9E3779B97F4A7C15  # the increment of SplitMix64


def mix(counter: int) -> int:
    """64 mixed bits for a counter.

    >>> hex(mix(1)), hex(mix(2))
    ('0x5692161d100b05e5', '0xdbd238973a2b148a')
    """
    z = counter & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def key_of(*parts: int | str) -> int:
    """A 64-bit key for a seed and a purpose. It does not depend on PYTHONHASHSEED."""
    text = "\x1f".join(map(str, parts)).encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big")


class Dice:
    """A stream of draws. Equal keys give equal draws."""

    __slots__ = ("_counter",)

    def __init__(self, key: int) -> None:
        self._counter = key

    @property
    def counter(self) -> int:
        """Where the stream is: ``mix(counter + STRIDE * n)`` is its n-th draw from here."""
        return self._counter

    def bits(self) -> int:
        # ``mix``, inlined: rendering text spends its time here.
        z = self._counter = (self._counter + STRIDE) & _MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """A whole number in ``range(n)``. The bias is at most n / 2**64."""
        return self.bits() % n

    def between(self, low: int, high: int) -> int:
        return low + self.bits() % (high - low + 1)

    def unit(self) -> float:
        """A float in [0, 1) with 53 random bits."""
        return (self.bits() >> 11) * 2.0**-53

    def pick(self, items: Sequence[T]) -> T:
        return items[self.bits() % len(items)]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Some of the items in a drawn order, all if there are no more."""
        out = list(items)
        count = min(count, len(out))
        for i in range(count):
            j = i + self.bits() % (len(out) - i)
            out[i], out[j] = out[j], out[i]
        return out[:count]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        out = list(items)
        for i in range(len(out) - 1, 0, -1):
            j = self.bits() % (i + 1)
            out[i], out[j] = out[j], out[i]
        return out
