"""Steers the service mesh."""

from chaosops.packs.arena.agent import FleetAgent


def lean(util: float) -> int:
    """Which way this agent moves things at a given utilisation of the service."""
    return 1 if util > 0.5 else -1


AGENT = FleetAgent(
    kind="mesh_controller",
    attributes=("home_weight", "retry_pct", "cert_days", "timeout_ms", "pool_size"),
    lean=lean,
    reason="mesh at util {util}%",
    duty="retry_storm",
)
