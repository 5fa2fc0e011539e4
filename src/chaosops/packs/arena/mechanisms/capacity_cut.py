"""Too few replicas are left for the load."""

from chaosops.core.actions import Scale
from chaosops.packs.arena.mechanism import Mechanism, Modifiers

MECHANISM = Mechanism(
    id="capacity_cut",
    attribute="replicas",
    harmful=-1,
    values=(5, 12),
    agents=("autoscaler", "cost_optimizer", "storage_manager"),
    strikes=("api", "worker", "store", "queue"),
    effect=Modifiers(capacity=0.2),
    remedy=Scale,
    logs=(
        "request queue full, shedding load",
        "no free worker for {n}ms",
        "saturated: {n} requests waiting",
    ),
)
