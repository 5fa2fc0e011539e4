"""A release that should not have been shipped."""

from chaosops.core.actions import Rollback
from chaosops.packs.arena.mechanism import Mechanism, Modifiers

MECHANISM = Mechanism(
    id="bad_deploy",
    attribute="canary_min",
    harmful=-1,
    values=(20, 60),
    agents=("deploy_bot", "flag_controller"),
    strikes=("api", "worker", "edge"),
    effect=Modifiers(errors=0.28, latency=1.8, capacity=0.8),
    remedy=Rollback,
    logs=(
        "unhandled exception in handler, {n} so far",
        "worker crashed and came back",
        "assertion failed in build {n}",
    ),
)
