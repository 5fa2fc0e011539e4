"""What the control plane asks of the processes that it rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from chaosops.live.platform import Observation


class Restored(NamedTuple):
    """A setting that a remedy put back, and its value after that."""

    service: str
    setting: str
    value: int


class Machinery(Protocol):
    """Lives in the process of the control plane, and is called from its event loop."""

    async def set(self, service: str, setting: str, value: int) -> None:
        """Give a setting a value, on all replicas of the service. Returns when it is in force."""
        ...

    async def remedy(self, verb: str, service: str, replicas: int = 0) -> Sequence[Restored]:
        """Carry out a verb of the team. Returns the settings that it put back."""
        ...

    async def observe(self, minute: int) -> Observation:
        """What can be seen now. The control plane adds the feed."""
        ...

    async def close(self) -> None:
        """End what it started."""
        ...
