"""Spreads load evenly."""

from chaosops.packs.arena.agent import FleetAgent


def lean(util: float) -> int:
    """Which way this agent moves things at a given utilisation of the service."""
    return -1 if util > 0.5 else 1


AGENT = FleetAgent(
    kind="load_balancer",
    attributes=("home_weight", "dns_ttl_s", "retry_pct"),
    lean=lean,
    reason="balance at util {util}%",
    duty="misrouting",
)
