"""What to play: frozen data from which everything else follows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from chaosops.core.vocabulary import Tier

# The limit of a single scenario that somebody starts by hand.
BY_HAND_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Scenario:
    """One incident. It names the failure, so it must not reach a policy."""

    pack: str
    failure: str
    tier: Tier
    seed: int
    limit: int

    def to_wire(self) -> dict[str, Any]:
        return {**asdict(self), "tier": self.tier.value}
