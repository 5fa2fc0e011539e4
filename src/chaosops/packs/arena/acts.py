"""Acts of fleet agents, as they happened."""

from __future__ import annotations

from typing import NamedTuple


class Act(NamedTuple):
    """One act. ``shown`` in the fleet's trace, ``signed`` in the agent's own record."""

    at: int
    agent: str
    attribute: str
    target: int
    before: int
    after: int
    reason: str
    order: str = "none"  # none, confirmed or unknown: what an audit says
    guilty: bool = False
    shown: bool = True
    signed: bool = True


class CauseChange(NamedTuple):
    """The change behind the incident, whoever made it."""

    attribute: str
    before: int
    after: int
    at: int
