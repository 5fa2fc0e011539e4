"""Tunes settings to the load."""

from chaosops.packs.arena.agent import FleetAgent


def lean(util: float) -> int:
    """Which way this agent moves things at a given utilisation of the service."""
    return 1 if util > 0.5 else -1


AGENT = FleetAgent(
    kind="config_manager",
    attributes=(
        "timeout_ms",
        "pool_size",
        "lock_timeout_s",
        "dns_ttl_s",
        "cert_days",
        "retention_h",
        "quota_rps",
    ),
    lean=lean,
    reason="profile for util {util}%",
    duty="pool_exhaustion",
)
