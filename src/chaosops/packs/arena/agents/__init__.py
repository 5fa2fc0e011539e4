"""One file per kind of fleet agent; the file's name is the kind."""

from chaosops.packs.arena.agent import FleetAgent
from chaosops.packs.discovery import discover

# The kinds that the published splits draw from. A kind that is added works in split ``extra``.
SHIPPED_AGENTS = (
    "autoscaler",
    "backup_agent",
    "batch_scheduler",
    "cache_warmer",
    "cert_rotator",
    "config_manager",
    "cost_optimizer",
    "deploy_bot",
    "flag_controller",
    "load_balancer",
    "mesh_controller",
    "storage_manager",
)
AGENTS: dict[str, FleetAgent] = discover(__name__, __path__, "AGENT", "kind", SHIPPED_AGENTS)
