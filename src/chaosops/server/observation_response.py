"""The answer to ``reset`` and ``step``, written by orjson.

OpenEnv writes every observation with pydantic, which takes longer than playing the step. Its
handler looks the model up by name, so another class can replace it.
"""

from __future__ import annotations

from typing import Any

import orjson
from openenv.core.env_server import http_server


class ObservationResponse:
    """As much of ``WSObservationResponse`` as the handler uses."""

    __slots__ = ("_data",)

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def model_dump_json(self) -> str:
        return orjson.dumps({"type": "observation", "data": self._data}).decode()


def write_observations_with_orjson() -> None:
    assert http_server.WSObservationResponse.__name__.endswith("ObservationResponse")
    http_server.WSObservationResponse = ObservationResponse
