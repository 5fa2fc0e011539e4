"""A setting makes healthy code fail."""

from chaosops.core.actions import Rollback
from chaosops.packs.arena.mechanism import Mechanism, Modifiers

MECHANISM = Mechanism(
    id="bad_config",
    attribute="timeout_ms",
    harmful=-1,
    values=(400, 3000),
    agents=("config_manager", "flag_controller", "mesh_controller"),
    strikes=("api", "worker", "edge"),
    effect=Modifiers(errors=0.35, latency=1.2),
    remedy=Rollback,
    logs=(
        "call aborted by deadline after {n}ms",
        "setting rejected valid requests",
        "deadline shorter than the work: {n} aborted",
    ),
)
