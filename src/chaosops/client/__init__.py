"""Clients of a ChaosOps server. They need the *client* extra, and no OpenEnv.

``ChaosOpsEnv`` plays all four roles of an episode, ``SeatConnection`` one role at a table.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from chaosops.core.errors import MissingExtra

if TYPE_CHECKING:
    from chaosops.client.env_client import ChaosOpsEnv, StepResult
    from chaosops.client.seat import SeatConnection
    from chaosops.wire.openenv import ChaosOpsAction, ChaosOpsObservation, ChaosOpsState
    from chaosops.wire.views import read_rules, read_view

__all__ = [
    "ChaosOpsAction",
    "ChaosOpsEnv",
    "ChaosOpsObservation",
    "ChaosOpsState",
    "SeatConnection",
    "StepResult",
    "read_rules",
    "read_view",
]

# Imported when asked for: building the models takes longer than a seat needs to connect.
_HOMES = {
    "chaosops.client.env_client": ("ChaosOpsEnv", "StepResult"),
    "chaosops.client.seat": ("SeatConnection",),
    "chaosops.wire.openenv": ("ChaosOpsAction", "ChaosOpsObservation", "ChaosOpsState"),
    "chaosops.wire.views": ("read_rules", "read_view"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            try:
                return getattr(import_module(home), name)
            except ModuleNotFoundError as error:
                raise MissingExtra("a client", str(error.name), "client") from None
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
