"""An empty cache lets all traffic through."""

from chaosops.core.actions import WarmCache
from chaosops.packs.arena.mechanism import Mechanism, Modifiers

MECHANISM = Mechanism(
    id="cache_stampede",
    attribute="cache_mb",
    harmful=-1,
    values=(256, 900),
    agents=("cache_warmer", "cost_optimizer", "storage_manager"),
    strikes=("cache",),
    effect=Modifiers(errors=0.12, latency=4.0, outflow=4.0),
    remedy=WarmCache,
    logs=(
        "{n} misses in a row",
        "same key computed {n} times at once",
        "entry gone, asked the store again",
    ),
)
