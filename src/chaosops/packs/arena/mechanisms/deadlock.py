"""Transactions wait on each other."""

from chaosops.core.actions import Restart
from chaosops.packs.arena.mechanism import Mechanism, Modifiers

MECHANISM = Mechanism(
    id="deadlock",
    attribute="lock_timeout_s",
    harmful=1,
    values=(20, 90),
    agents=("config_manager", "batch_scheduler", "storage_manager"),
    strikes=("store",),
    effect=Modifiers(capacity=0.4, latency=6.0, errors=0.1),
    remedy=Restart,
    logs=(
        "transaction waits for transaction, {n} blocked",
        "no progress on row locks for {n}s",
        "writers queue behind a waiting writer",
    ),
)
