"""What a mechanism is: one way in which a service breaks.

The infrastructure, a human or a fleet agent may set off the same mechanism. What it
does to the service is the same; only the evidence differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from chaosops.core.actions import Action


class Modifiers(NamedTuple):
    """What a fault at full severity does to its service; severity scales it down."""

    capacity: float = 1.0  # factor on what the replicas can serve
    errors: float = 0.0  # share of requests that fail by themselves
    latency: float = 1.0  # factor on the service's own latency
    inflow: float = 1.0  # factor on the load that arrives
    outflow: float = 1.0  # factor on the calls it makes in turn

    def at(self, severity: float) -> Modifiers:
        """
        >>> Modifiers(capacity=0.4, errors=0.5).at(0.5)
        Modifiers(capacity=0.7, errors=0.25, latency=1.0, inflow=1.0, outflow=1.0)
        """
        return Modifiers(
            1.0 - (1.0 - self.capacity) * severity,
            self.errors * severity,
            1.0 + (self.latency - 1.0) * severity,
            1.0 + (self.inflow - 1.0) * severity,
            1.0 + (self.outflow - 1.0) * severity,
        )

    def joined(self, other: Modifiers) -> Modifiers:
        """The effect of two faults on one service."""
        return Modifiers(
            self.capacity * other.capacity,
            1.0 - (1.0 - self.errors) * (1.0 - other.errors),
            self.latency * other.latency,
            self.inflow * other.inflow,
            self.outflow * other.outflow,
        )


@dataclass(frozen=True, slots=True)
class Mechanism:
    id: str
    attribute: str
    """The attribute whose change sets it off. Traces and inspections name it."""
    harmful: int
    """The direction that does damage: -1 down, +1 up."""
    values: tuple[int, int]
    """The normal range of the attribute."""
    agents: tuple[str, ...]
    """The kinds of fleet agents that may change the attribute."""
    strikes: tuple[str, ...]
    """The kinds of services it can strike."""
    effect: Modifiers
    remedy: type[Action]
    logs: tuple[str, ...]
    first_severity: float = 0.8
    growth: float = 0.05
    stock: str | None = None
    """memory or disk, if the fault fills one of them."""
