"""Keeps utilisation near its target."""

from chaosops.packs.arena.agent import FleetAgent


def lean(util: float) -> int:
    """Which way this agent moves things at a given utilisation of the service."""
    return 1 if util > 0.5 else -1


AGENT = FleetAgent(
    kind="autoscaler",
    attributes=("replicas",),
    lean=lean,
    reason="util {util}%",
    duty="capacity_cut",
)
