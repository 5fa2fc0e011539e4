"""Traffic goes where nobody can serve it."""

from chaosops.core.actions import Reroute
from chaosops.packs.arena.mechanism import Mechanism, Modifiers

MECHANISM = Mechanism(
    id="misrouting",
    attribute="home_weight",
    harmful=-1,
    values=(60, 100),
    agents=("load_balancer", "deploy_bot", "mesh_controller"),
    strikes=("api", "edge", "store"),
    effect=Modifiers(errors=0.4, inflow=0.6),
    remedy=Reroute,
    logs=(
        "request served by an unknown backend",
        "{n} requests answered with not found",
        "peers idle while clients fail",
    ),
)
