"""What a fleet agent is: a small policy with an objective, and limits it should keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FleetAgent:
    kind: str
    attributes: tuple[str, ...]
    """What it may change on a service."""
    lean: Callable[[float], int]
    """Its objective as a rule: up (1) or down (-1), given the service's utilisation."""
    reason: str
    """How it explains itself; ``{util}`` is what it says it saw."""
    duty: str
    """The mechanism that sets in on some service once nobody does this agent's work."""
