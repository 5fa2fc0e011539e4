"""Clients of a ChaosOps server. ``ChaosOpsEnv`` drives an episode, ``SeatConnection`` plays one
role of a shared one. What is not used is not imported: a seat needs no OpenEnv."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chaosops.client.env_client import ChaosOpsEnv
    from chaosops.client.seat import SeatConnection
    from chaosops.wire.openenv import ChaosOpsAction, ChaosOpsObservation, ChaosOpsState
    from chaosops.wire.views import read_rules, read_view

__all__ = [
    "ChaosOpsAction",
    "ChaosOpsEnv",
    "ChaosOpsObservation",
    "ChaosOpsState",
    "SeatConnection",
    "read_rules",
    "read_view",
]

_HOMES = {
    "ChaosOpsAction": "chaosops.wire.openenv",
    "ChaosOpsEnv": "chaosops.client.env_client",
    "ChaosOpsObservation": "chaosops.wire.openenv",
    "ChaosOpsState": "chaosops.wire.openenv",
    "SeatConnection": "chaosops.client.seat",
    "read_rules": "chaosops.wire.views",
    "read_view": "chaosops.wire.views",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
