"""Takes away what is not used."""

from chaosops.packs.arena.agent import FleetAgent


def lean(util: float) -> int:
    """Which way this agent moves things at a given utilisation of the service."""
    return -1 if util < 0.55 else 1


AGENT = FleetAgent(
    kind="cost_optimizer",
    attributes=("replicas", "pool_size", "quota_rps", "cache_mb"),
    lean=lean,
    reason="util {util}%",
    duty="pool_exhaustion",
)
