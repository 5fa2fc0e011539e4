"""A small client without OpenEnv. It plays all roles of one episode at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from chaosops.client.connection import Connection
from chaosops.core.actions import Action, to_wire
from chaosops.core.errors import BadInput
from chaosops.core.printable import short
from chaosops.wire.openenv import ChaosOpsAction, ChaosOpsObservation, ChaosOpsState

AnyAction = ChaosOpsAction | Action | Mapping[str, Any] | str


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

    def step(self, action: AnyAction) -> EpisodeStep:
        return read_step(self.ask("step", action_to_wire(action)))

    def state(self) -> ChaosOpsState:
        return ChaosOpsState.model_validate(self.ask("state"))


def action_to_wire(action: AnyAction) -> dict[str, Any]:
    match action:
        case str():
            return {"reply": action}
        case Mapping():
            return dict(action)
        case Action():
            return to_wire(action)
        case ChaosOpsAction():
            payload: dict[str, Any] = action.model_dump(exclude_none=True, exclude_defaults=True)
            return payload
    raise BadInput(
        f"{short(action)} is not an action; send one such as {{'action': 'noop'}}, or a model's "
        "reply as text"
    )


def read_step(payload: Mapping[str, Any]) -> EpisodeStep:
    reward, done = payload["reward"], payload["done"]
    told = {**payload["observation"], "reward": reward, "done": done}
    return EpisodeStep(ChaosOpsObservation.model_validate(told), reward, done)
