"""What a mechanism is: one way in which a service breaks.

The infrastructure, a human or a fleet agent may set off the same mechanism. What it
does to the service is the same; only the evidence differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from chaosops.core.actions import Action
from chaosops.packs.arena.company import Company


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
            max(0.05, 1.0 - (1.0 - self.capacity) * severity),
            min(0.95, self.errors * severity),
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


class Shows(StrEnum):
    """Where the damage of a fault is seen first."""

    HERE = "here"
    BELOW = "below"  # at the services that it calls
    ABOVE = "above"  # at the services that call it


STOCKS = ("memory", "disk")


@dataclass(frozen=True, slots=True)
class Mechanism:
    id: str
    """Also its name in the runbook."""
    setting: str
    """What has to be changed to set it off: it stands in traces and inspections."""
    harmful: int
    """The direction that does damage: -1 down, +1 up."""
    values: tuple[int, int]
    """What the setting is where all is well, from and to."""
    changed_by: tuple[str, ...]
    """The kinds of fleet agents that may change the setting."""
    strikes: tuple[str, ...]
    """The kinds of services it can strike."""
    effect: Modifiers
    remedy: type[Action]
    logs: tuple[str, ...]
    """What the services where it shows write; {n} is a number."""
    severity: float = 0.8
    growth: float = 0.05
    stock: str | None = None
    """memory or disk, where the damage is a stock that fills."""
    shows: Shows = Shows.HERE

    def shows_at(self, company: Company, place: int) -> tuple[int, ...]:
        """The services that fail first when it strikes at ``place``."""
        if self.shows is Shows.BELOW:
            return company.callees(place)
        return company.callers(place) if self.shows is Shows.ABOVE else (place,)

    def places(self, company: Company) -> list[int]:
        """Where it can strike in a company."""
        return [
            place
            for place, kind in enumerate(company.kinds)
            if kind in self.strikes and self.shows_at(company, place)
        ]

    def modifiers(self, company: Company, place: int, severity: float) -> dict[int, Modifiers]:
        """What it does to each service. Calls that are made too often are made by the service
        it struck, wherever the damage shows."""
        effect = self.effect.at(severity)
        if self.shows is Shows.HERE:
            return {place: effect}
        shown = effect._replace(outflow=1.0)
        found = dict.fromkeys(self.shows_at(company, place), shown)
        if effect.outflow != 1.0:
            found[place] = Modifiers(outflow=effect.outflow)
        return found
