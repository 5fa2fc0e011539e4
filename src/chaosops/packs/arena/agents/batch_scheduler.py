"""Runs batch work when services are idle."""

from chaosops.packs.arena.agent import FleetAgent


def lean(util: float) -> int:
    """Which way this agent moves things at a given utilisation of the service."""
    return 1 if util < 0.5 else -1


AGENT = FleetAgent(
    kind="batch_scheduler",
    attributes=("batch_slots", "lock_timeout_s"),
    lean=lean,
    reason="slot at util {util}%",
    duty="batch_starvation",
)
