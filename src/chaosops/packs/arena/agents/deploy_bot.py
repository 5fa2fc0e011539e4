"""Ships releases, faster where it is calm."""

from chaosops.packs.arena.agent import FleetAgent


def lean(util: float) -> int:
    """Which way this agent moves things at a given utilisation of the service."""
    return -1 if util < 0.5 else 1


AGENT = FleetAgent(
    kind="deploy_bot",
    attributes=("canary_min", "home_weight", "buffer_mb"),
    lean=lean,
    reason="train at util {util}%",
    duty="bad_deploy",
)
