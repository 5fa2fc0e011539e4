"""Keeps backups and clears old ones."""

from chaosops.packs.arena.agent import FleetAgent


def lean(util: float) -> int:
    """Which way this agent moves things at a given utilisation of the service."""
    return 1 if util < 0.5 else -1


AGENT = FleetAgent(
    kind="backup_agent",
    attributes=("retention_h", "batch_slots"),
    lean=lean,
    reason="run at util {util}%",
    duty="disk_fill",
)
