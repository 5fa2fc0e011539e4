"""A small client without OpenEnv. It plays all roles of one episode at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from chaosops.client.connection import Connection
from chaosops.wire.openenv import ChaosOpsAction, ChaosOpsObservation, ChaosOpsState


class EpisodeStep(NamedTuple):
    """``reward`` is None after a reset, and always in evaluation mode."""

    observation: ChaosOpsObservation
    reward: float | None
    done: bool


class ChaosOpsClient(Connection):
    """``reset`` and ``step`` take the same arguments as in ``ChaosOpsEnv``, without ``await``."""

    def __init__(self, url: str, token: str | None = None) -> None:
        super().__init__(url, "/ws", token)

    def reset(self, **options: Any) -> EpisodeStep:
        return read_step(self.ask("reset", options))

    def step(self, action: ChaosOpsAction | Mapping[str, Any] | str) -> EpisodeStep:
        return read_step(self.ask("step", action_to_wire(action)))

    def state(self) -> ChaosOpsState:
        return ChaosOpsState.model_validate(self.ask("state"))


def action_to_wire(action: ChaosOpsAction | Mapping[str, Any] | str) -> dict[str, Any]:
    if isinstance(action, str):
        return {"reply": action}
    if isinstance(action, Mapping):
        return dict(action)
    payload: dict[str, Any] = action.model_dump(exclude_none=True, exclude_defaults=True)
    return payload


def read_step(payload: Mapping[str, Any]) -> EpisodeStep:
    reward, done = payload["reward"], payload["done"]
    told = {**payload["observation"], "reward": reward, "done": done}
    return EpisodeStep(ChaosOpsObservation.model_validate(told), reward, done)
