"""One file per failure; the file's name is the failure's id."""

from chaosops.packs.classic.failure import Failure
from chaosops.packs.discovery import discover

# Draws pick one of these, and the prompts of their episodes list these. A failure that is added
# is played where a scenario names it; its own episodes list it behind the others.
SHIPPED = (
    "autoscaler_cost_cut",
    "bad_config_push",
    "cascade",
    "db_deadlock",
    "disk_full",
    "dns_outage",
    "memory_leak",
    "misrouted_traffic",
    "rogue_deploy_bot",
)
FAILURES: dict[str, Failure] = discover(__name__, __path__, "FAILURE", "id", SHIPPED)
