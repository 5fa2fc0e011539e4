"""Memory that is never given back."""

from chaosops.core.actions import Restart
from chaosops.packs.arena.mechanism import Mechanism, Modifiers

MECHANISM = Mechanism(
    id="leak",
    attribute="buffer_mb",
    harmful=1,
    values=(64, 256),
    agents=("deploy_bot", "flag_controller", "storage_manager"),
    strikes=("api", "worker", "cache"),
    effect=Modifiers(capacity=0.3, latency=2.5, errors=0.08),
    remedy=Restart,
    logs=(
        "gc pause {n}ms and growing",
        "allocation failed, retried",
        "resident set grew again by {n}MB",
    ),
    first_severity=0.55,
    growth=0.07,
    stock="memory",
)
