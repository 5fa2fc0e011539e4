"""Too few connections for the work in flight."""

from chaosops.core.actions import Rollback
from chaosops.packs.arena.mechanism import Mechanism, Modifiers

MECHANISM = Mechanism(
    id="pool_exhaustion",
    attribute="pool_size",
    harmful=-1,
    values=(40, 200),
    agents=("config_manager", "cost_optimizer", "mesh_controller"),
    strikes=("api", "worker", "store"),
    effect=Modifiers(capacity=0.22, latency=2.0),
    remedy=Rollback,
    logs=(
        "waited {n}ms for a connection",
        "all connections in use, {n} queued",
        "no free worker for {n}ms",
    ),
)
