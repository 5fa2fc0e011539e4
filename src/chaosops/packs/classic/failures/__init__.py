"""One file per failure; the file's name is the failure's id."""

from importlib import import_module

from chaosops.core.discovery import modules_in
from chaosops.packs.classic.failure import Failure

# Draws pick one of these, and the prompts of their episodes list these. A failure that is added
# is played where a scenario names it; its own episodes list it after the others.
SHIPPED = (
    *("autoscaler_cost_cut", "bad_config_push", "cascade", "db_deadlock", "disk_full"),
    *("dns_outage", "memory_leak", "misrouted_traffic", "rogue_deploy_bot"),
)
for _name in modules_in(__path__, SHIPPED):
    import_module(f"{__name__}.{_name}")
FAILURES = {kind.id: kind() for kind in Failure.__subclasses__()}
