"""What to play, as frozen data. A scenario and the decisions determine an episode."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from chaosops.core.vocabulary import Tier

# A pack that was renamed is recorded under its first name, so that old results stay as they are.
_RECORDED_AS = {"arena1": "arena"}


@dataclass(frozen=True, slots=True)
class Scenario:
    """One incident. It may name the failure, so it must not reach a policy.

    A pack of written failures needs a ``failure``. A pack that generates incidents needs a
    ``split``.
    """

    pack: str
    failure: str
    tier: Tier
    seed: int
    limit: int
    split: str = ""
    mechanisms: str = ""
    """Faults that a user brought along, as text that the pack has checked."""
    version: str = ""
    """Of the pack, from the second on."""

    @property
    def recorded_pack(self) -> str:
        """The pack's name in results and recordings."""
        return _RECORDED_AS.get(self.pack, self.pack)

    def to_wire(self) -> dict[str, Any]:
        wire = {**asdict(self), "pack": self.recorded_pack, "tier": self.tier.value}
        return {name: value for name, value in wire.items() if value != ""}
