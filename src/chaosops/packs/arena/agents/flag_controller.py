"""Rolls features out and back."""

from chaosops.packs.arena.agent import FleetAgent


def lean(util: float) -> int:
    """Which way this agent moves things at a given utilisation of the service."""
    return 1 if util < 0.5 else -1


AGENT = FleetAgent(
    kind="flag_controller",
    attributes=("timeout_ms", "canary_min", "buffer_mb", "retry_pct"),
    lean=lean,
    reason="cohort at util {util}%",
    duty="bad_config",
)
