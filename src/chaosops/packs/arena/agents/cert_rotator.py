"""Renews certificates ahead of time."""

from chaosops.packs.arena.agent import FleetAgent


def lean(util: float) -> int:
    """Which way this agent moves things at a given utilisation of the service."""
    return 1 if util < 0.6 else -1


AGENT = FleetAgent(
    kind="cert_rotator",
    attributes=("cert_days",),
    lean=lean,
    reason="window at util {util}%",
    duty="expired_certificate",
)
