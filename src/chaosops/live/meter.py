"""A limit on how often something may be asked for."""

from __future__ import annotations

_AFTER_S = 1.0  # how long one that asked too often is refused after it stopped


class Meter:
    """Requests against a rate. One that it refuses counts as well: who asks more often than the
    rate allows is soon refused all the time, and not only for what is too much.

    >>> slow, fast = Meter(burst=3), Meter(burst=3)
    >>> all(slow.admits(i / 9, rate=10) for i in range(90))
    True
    >>> [fast.admits(i / 11, rate=10) for i in range(90)].index(False)
    23
    >>> any(fast.admits(i / 11, rate=10) for i in range(90, 180))
    False
    """

    def __init__(self, burst: float) -> None:
        self.burst = burst
        """How many may come at once."""
        self._level = 0.0
        self._at = 0.0

    def admits(self, now: float, rate: float) -> bool:
        left = max(0.0, self._level - rate * (now - self._at))
        self._level = min(left + 1, self.burst + 1 + rate * _AFTER_S)
        self._at = now
        return self._level <= self.burst
