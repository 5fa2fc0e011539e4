"""A certificate that is no longer accepted."""

from chaosops.core.actions import RenewCert
from chaosops.packs.arena.mechanism import Mechanism, Modifiers

MECHANISM = Mechanism(
    id="expired_certificate",
    attribute="cert_days",
    harmful=-1,
    values=(30, 90),
    agents=("cert_rotator", "config_manager", "mesh_controller"),
    strikes=("api", "edge", "store"),
    effect=Modifiers(errors=0.5),
    remedy=RenewCert,
    logs=(
        "handshake failed with {n} peers",
        "peer refused the identity offered",
        "trust chain not accepted",
    ),
)
