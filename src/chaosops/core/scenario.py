"""What to play, as frozen data. A scenario and the decisions determine an episode."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from chaosops.core.vocabulary import Tier


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

    def to_wire(self) -> dict[str, Any]:
        wire = {**asdict(self), "tier": self.tier.value}
        return {name: value for name, value in wire.items() if value != ""}
