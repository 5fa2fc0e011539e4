"""Clients of a ChaosOps server.

``ChaosOpsEnv`` is OpenEnv's client and needs the extra *server*. ``ChaosOpsClient`` plays the same
episodes and ``SeatConnection`` one role at a table; they need the extra *client*, and no OpenEnv.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from chaosops.core.errors import MissingExtra

if TYPE_CHECKING:
    from chaosops.client.env_client import ChaosOpsEnv
    from chaosops.client.episode_client import ChaosOpsClient
    from chaosops.client.seat import SeatConnection
    from chaosops.wire.openenv import ChaosOpsAction, ChaosOpsObservation, ChaosOpsState
    from chaosops.wire.views import read_rules, read_view

__all__ = [
    "ChaosOpsAction",
    "ChaosOpsClient",
    "ChaosOpsEnv",
    "ChaosOpsObservation",
    "ChaosOpsState",
    "SeatConnection",
    "read_rules",
    "read_view",
]

# Imported on first use: OpenEnv and the models take longer to import than a seat to connect.
_HOMES = {
    "ChaosOpsClient": "client.episode_client",
    "ChaosOpsEnv": "client.env_client",
    "SeatConnection": "client.seat",
    "read_rules": "wire.views",
    "read_view": "wire.views",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"chaosops.{_HOMES.get(name, 'wire.openenv')}"), name)
    except ModuleNotFoundError as error:
        needed = "server" if name == "ChaosOpsEnv" else "client"
        instead = "use ChaosOpsClient of the extra client" if name == "ChaosOpsEnv" else ""
        raise MissingExtra(name, str(error.name), needed, instead) from None
