"""The remedy for each diagnosis."""

from __future__ import annotations

from chaosops.core.actions import Action, Restart, Rollback, Scale

# Misrouted traffic is missing on purpose: no repair of a service restores a route.
REMEDY_FOR: dict[str, Action] = {
    "autoscaler_cost_cut": Scale("payments", 4),
    "bad_config_push": Rollback("auth"),
    "cascade": Restart("db"),
    "db_deadlock": Restart("db"),
    "disk_full": Scale("db", 2),
    "dns_outage": Restart("auth"),
    "memory_leak": Restart("notifications"),
    "rogue_deploy_bot": Rollback("payments"),
}
