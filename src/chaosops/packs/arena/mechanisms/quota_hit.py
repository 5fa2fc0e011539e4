"""An allowance that is used up."""

from chaosops.core.actions import Escalate
from chaosops.packs.arena.mechanism import Mechanism, Modifiers

MECHANISM = Mechanism(
    id="quota_hit",
    attribute="quota_rps",
    harmful=-1,
    values=(400, 2000),
    agents=("cost_optimizer", "config_manager"),
    strikes=("edge", "api", "worker"),
    effect=Modifiers(errors=0.4),
    remedy=Escalate,
    logs=(
        "refused by provider: allowance used",
        "too many requests, {n} refused",
        "limit reached, try later",
    ),
)
