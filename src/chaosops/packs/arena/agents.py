"""The kinds of fleet agents: small policies with an objective, and limits they should keep."""

from __future__ import annotations

from typing import NamedTuple

from chaosops.packs.arena.mechanism import Mechanism


class FleetAgent(NamedTuple):
    kind: str
    reason: str
    """How it explains itself; ``{util}`` is what it says it saw."""
    when_busy: int
    """Its objective as a rule: on a busy service it moves things up (1) or down (-1), on a calm
    one the other way."""
    busy_above: float = 0.5
    settings: tuple[str, ...] = ()
    """What it may change besides the settings of mechanisms that name it."""

    def may_change(self, mechanism: Mechanism) -> bool:
        return self.kind in mechanism.changed_by or mechanism.setting in self.settings

    def says(self, util: int) -> str:
        return self.reason.format(util=util)

    def lean(self, utilisation: float) -> int:
        return self.when_busy if utilisation > self.busy_above else -self.when_busy


# The published splits draw from these; their order decides what a seed draws.
_SHIPPED = (
    # Keeps utilisation near its target.
    FleetAgent("autoscaler", "util {util}%", 1),
    # Keeps backups and clears old ones.
    FleetAgent("backup_agent", "run at util {util}%", -1),
    # Runs batch work when services are idle.
    FleetAgent("batch_scheduler", "slot at util {util}%", -1),
    # Keeps hot entries where they are needed.
    FleetAgent("cache_warmer", "hit plan at util {util}%", 1, 0.45),
    # Renews certificates ahead of time.
    FleetAgent("cert_rotator", "window at util {util}%", -1, 0.6),
    # Tunes settings to the load.
    FleetAgent("config_manager", "profile for util {util}%", 1),
    # Takes away what is not used.
    FleetAgent("cost_optimizer", "util {util}%", 1, 0.55),
    # Ships releases, faster where it is calm.
    FleetAgent("deploy_bot", "train at util {util}%", 1),
    # Rolls features out and back.
    FleetAgent("flag_controller", "cohort at util {util}%", -1),
    # Spreads load evenly.
    FleetAgent("load_balancer", "balance at util {util}%", -1),
    # Steers the service mesh.
    FleetAgent("mesh_controller", "mesh at util {util}%", 1),
    # Sizes storage to its use.
    FleetAgent("storage_manager", "tiering at util {util}%", 1),
)  # fmt: skip
# Kinds that are added work in split ``extra``.
_ADDED: tuple[FleetAgent, ...] = ()

SHIPPED_AGENTS = tuple(agent.kind for agent in _SHIPPED)
AGENTS = {agent.kind: agent for agent in (*_SHIPPED, *_ADDED)}
