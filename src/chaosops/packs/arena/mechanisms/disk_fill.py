"""A disk that is written faster than it is cleaned."""

from chaosops.core.actions import Purge
from chaosops.packs.arena.mechanism import Mechanism, Modifiers

MECHANISM = Mechanism(
    id="disk_fill",
    attribute="retention_h",
    harmful=1,
    values=(24, 96),
    agents=("backup_agent", "config_manager", "storage_manager"),
    strikes=("store", "queue"),
    effect=Modifiers(errors=0.35, latency=2.0),
    remedy=Purge,
    logs=(
        "write failed: no space left",
        "could not extend segment {n}",
        "checkpoint postponed, volume short",
    ),
    first_severity=0.55,
    growth=0.07,
    stock="disk",
)
