"""The kinds of fleet agents: small policies with an objective, and limits they should keep."""

from __future__ import annotations

from typing import NamedTuple


class FleetAgent(NamedTuple):
    kind: str
    attributes: tuple[str, ...]
    """What it may change on a service."""
    duty: str
    """The mechanism that starts on some service when this agent is quarantined for long."""
    reason: str
    """The reason it gives. ``{util}`` is the utilisation that it claims to have seen."""
    when_busy: int
    """Its objective as a rule: on a busy service it moves values up (1) or down (-1), on a calm
    service the other way."""
    busy_above: float = 0.5

    def lean(self, utilisation: float) -> int:
        return self.when_busy if utilisation > self.busy_above else -self.when_busy


# The published splits draw from these; their order decides what a seed draws.
_SHIPPED = (
    # Keeps utilisation near its target.
    FleetAgent("autoscaler", ("replicas",), "capacity_cut", "util {util}%", 1),
    # Keeps backups and clears old ones.
    FleetAgent("backup_agent", ("retention_h", "batch_slots"),
               "disk_fill", "run at util {util}%", -1),
    # Runs batch work when services are idle.
    FleetAgent("batch_scheduler", ("batch_slots", "lock_timeout_s"),
               "batch_starvation", "slot at util {util}%", -1),
    # Keeps hot entries where they are needed.
    FleetAgent("cache_warmer", ("cache_mb",), "leak", "hit plan at util {util}%", 1, 0.45),
    # Renews certificates ahead of time.
    FleetAgent("cert_rotator", ("cert_days",),
               "expired_certificate", "window at util {util}%", -1, 0.6),
    # Tunes settings to the load.
    FleetAgent("config_manager",
               ("timeout_ms", "pool_size", "lock_timeout_s", "dns_ttl_s", "cert_days",
                "retention_h", "quota_rps"),
               "pool_exhaustion", "profile for util {util}%", 1),
    # Takes away what is not used.
    FleetAgent("cost_optimizer", ("replicas", "pool_size", "quota_rps", "cache_mb"),
               "pool_exhaustion", "util {util}%", 1, 0.55),
    # Ships releases, faster where it is calm.
    FleetAgent("deploy_bot", ("canary_min", "home_weight", "buffer_mb"),
               "bad_deploy", "train at util {util}%", 1),
    # Rolls features out and back.
    FleetAgent("flag_controller", ("timeout_ms", "canary_min", "buffer_mb", "retry_pct"),
               "bad_config", "cohort at util {util}%", -1),
    # Spreads load evenly.
    FleetAgent("load_balancer", ("home_weight", "dns_ttl_s", "retry_pct"),
               "misrouting", "balance at util {util}%", -1),
    # Steers the service mesh.
    FleetAgent("mesh_controller",
               ("home_weight", "retry_pct", "cert_days", "timeout_ms", "pool_size"),
               "retry_storm", "mesh at util {util}%", 1),
    # Sizes storage to its use.
    FleetAgent("storage_manager",
               ("retention_h", "cache_mb", "lock_timeout_s", "buffer_mb", "replicas"),
               "disk_fill", "tiering at util {util}%", 1),
)  # fmt: skip
# Kinds that are added work in split ``extra``.
_ADDED: tuple[FleetAgent, ...] = ()

SHIPPED_AGENTS = tuple(agent.kind for agent in _SHIPPED)
AGENTS = {agent.kind: agent for agent in (*_SHIPPED, *_ADDED)}
