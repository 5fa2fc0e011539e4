"""Sizes storage to its use."""

from chaosops.packs.arena.agent import FleetAgent


def lean(util: float) -> int:
    """Which way this agent moves things at a given utilisation of the service."""
    return 1 if util > 0.5 else -1


AGENT = FleetAgent(
    kind="storage_manager",
    attributes=("retention_h", "cache_mb", "lock_timeout_s", "buffer_mb", "replicas"),
    lean=lean,
    reason="tiering at util {util}%",
    duty="disk_fill",
)
