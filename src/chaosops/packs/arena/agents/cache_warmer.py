"""Keeps hot entries where they are needed."""

from chaosops.packs.arena.agent import FleetAgent


def lean(util: float) -> int:
    """Which way this agent moves things at a given utilisation of the service."""
    return 1 if util > 0.45 else -1


AGENT = FleetAgent(
    kind="cache_warmer",
    attributes=("cache_mb",),
    lean=lean,
    reason="hit plan at util {util}%",
    duty="leak",
)
