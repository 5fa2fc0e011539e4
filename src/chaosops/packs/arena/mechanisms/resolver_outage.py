"""Names no longer resolve."""

from chaosops.core.actions import Restart
from chaosops.packs.arena.mechanism import Mechanism, Modifiers

MECHANISM = Mechanism(
    id="resolver_outage",
    attribute="dns_ttl_s",
    harmful=-1,
    values=(60, 600),
    agents=("load_balancer", "config_manager"),
    strikes=("api", "edge", "worker"),
    effect=Modifiers(errors=0.45, latency=1.6),
    remedy=Restart,
    logs=(
        "lookup timed out after {n}ms",
        "no address for a known name",
        "resolver gave no answer, {n} tries",
    ),
)
