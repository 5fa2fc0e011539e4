"""A batch job takes the machines of a service."""

from chaosops.core.actions import PauseBatch
from chaosops.packs.arena.mechanism import Mechanism, Modifiers

MECHANISM = Mechanism(
    id="batch_starvation",
    attribute="batch_slots",
    harmful=1,
    values=(20, 60),
    agents=("batch_scheduler", "backup_agent"),
    strikes=("worker", "store", "api"),
    effect=Modifiers(capacity=0.22, latency=1.5),
    remedy=PauseBatch,
    logs=(
        "cpu stolen by a neighbour, {n}ms lost",
        "run queue long, own load as usual",
        "no free worker for {n}ms",
    ),
)
