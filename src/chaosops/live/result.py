"""What comes out of trying a fault in a running company."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol


class Result(Protocol):
    """What was found at one service. As text it is one line."""

    def to_wire(self) -> dict[str, Any]: ...

    @property
    def worked(self) -> bool: ...

    @property
    def is_void(self) -> bool: ...


class VoidTry(NamedTuple):
    """Nothing was found: the company did not start, or ended before the try did."""

    fault: str
    service: str
    threshold_pct: int
    reason: str

    @property
    def worked(self) -> bool:
        return False

    @property
    def is_void(self) -> bool:
        return True

    def to_wire(self) -> dict[str, Any]:
        """With all keys that a table of lifecycles reads."""
        unknown = {"broken_s": None, "well_s": None, "seconds": 0, "void_s": 0.0}
        return {"verdict": verdict(self), **self._asdict(), **unknown}

    def __str__(self) -> str:
        return (
            f"{verdict(self):<4} {self.fault:<20} {self.service:<11} "
            f"{self.threshold_pct}% {self.reason}"
        )


def verdict(result: Result) -> str:
    return "void" if result.is_void else "ok" if result.worked else "BAD"
