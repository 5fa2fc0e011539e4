"""Clients of a ChaosOps server. ``ChaosOpsEnv`` drives an episode, ``SeatConnection`` plays one
role of a shared one. What is not used is not imported: a seat needs no OpenEnv."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chaosops.client.env_client import ChaosOpsEnv
    from chaosops.client.seat import SeatConnection
    from chaosops.client.views import read_rules, read_view
    from chaosops.client.wire import ChaosOpsAction, ChaosOpsObservation, ChaosOpsState

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
    "ChaosOpsAction": "wire",
    "ChaosOpsEnv": "env_client",
    "ChaosOpsObservation": "wire",
    "ChaosOpsState": "wire",
    "SeatConnection": "seat",
    "read_rules": "views",
    "read_view": "views",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
