"""A typed client of one episode at a time, over a WebSocket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaosops.access.tokens import token_headers
from chaosops.client.refusals import cure_of
from chaosops.wire.openenv import ChaosOpsAction, ChaosOpsObservation, ChaosOpsState
from chaosops.wire.openenv_core import EnvClient, StepResult


class ChaosOpsEnv(EnvClient[ChaosOpsAction, ChaosOpsObservation, ChaosOpsState]):  # type: ignore[misc]
    """One client drives all four roles: the observation says whose turn it is.

    Asynchronous, with ``await``; ``ChaosOpsEnv(URL).sync()`` for plain code. ``reset`` takes
    ``pack``, ``scenario``, ``tier``, ``split``, ``seed``, ``max_steps`` and ``format``; ``step``
    takes a ``ChaosOpsAction``, the flat JSON action as a dict, or a model's reply as text.

    ``token`` is for a server that asks for one; without it ``CHAOSOPS_TOKEN`` is sent, if set.
    """

    def __init__(
        self,
        *args: Any,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        **named: Any,
    ) -> None:
        super().__init__(*args, headers={**token_headers(token), **(headers or {})}, **named)

    async def _connect_async(self) -> Any:
        try:
            return await super()._connect_async()
        except ConnectionError as error:
            cure = cure_of(error.__cause__, "token=")
            raise ConnectionError(f"{error}{cure}") from error.__cause__

    def _step_payload(self, action: ChaosOpsAction | Mapping[str, Any] | str) -> dict[str, Any]:
        if isinstance(action, str):
            return {"reply": action}
        if isinstance(action, Mapping):
            return dict(action)
        payload: dict[str, Any] = action.model_dump(exclude_none=True, exclude_defaults=True)
        return payload

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[ChaosOpsObservation]:
        reward, done = payload.get("reward"), payload.get("done", False)
        observation = ChaosOpsObservation.model_validate(
            {**payload.get("observation", {}), "reward": reward, "done": done}
        )
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> ChaosOpsState:
        state: ChaosOpsState = ChaosOpsState.model_validate(payload)
        return state
