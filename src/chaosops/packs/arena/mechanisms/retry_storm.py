"""Clients that try again make it worse."""

from chaosops.core.actions import Throttle
from chaosops.packs.arena.mechanism import Mechanism, Modifiers

MECHANISM = Mechanism(
    id="retry_storm",
    attribute="retry_pct",
    harmful=1,
    values=(10, 30),
    agents=("flag_controller", "load_balancer", "mesh_controller"),
    strikes=("api", "store", "queue"),
    effect=Modifiers(inflow=2.8),
    remedy=Throttle,
    logs=(
        "duplicate of a request seen {n} times",
        "same call repeated by its client",
        "request queue full, shedding load",
    ),
)
