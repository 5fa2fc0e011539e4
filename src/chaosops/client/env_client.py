"""OpenEnv's client with the models of this environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaosops.access.tokens import token_headers
from chaosops.client.connection import refusal
from chaosops.client.episode_client import AnyAction, action_to_wire, read_step
from chaosops.client.openenv_core import EnvClient, StepResult
from chaosops.wire.openenv import ChaosOpsAction, ChaosOpsObservation, ChaosOpsState


class ChaosOpsEnv(EnvClient[ChaosOpsAction, ChaosOpsObservation, ChaosOpsState]):  # type: ignore[misc]
    """One client plays all four roles: the observation says which role is on turn. With ``role`` in
    ``reset`` it plays one, and the server plays its ``partners``.

    Asynchronous, with ``await``. Use ``ChaosOpsEnv(URL).sync()`` in plain code. ``reset`` takes
    ``pack``, ``scenario``, ``tier``, ``split``, ``seed``, ``max_steps`` and ``format``; ``step``
    takes a ``ChaosOpsAction``, the flat JSON action as a dict, or a model's reply as text.

    A server that asks for a token gets ``token``, or ``CHAOSOPS_TOKEN`` from the environment.
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
            cause = error.__cause__ or error
            raise ConnectionError(refusal(self.base_url, cause, "token=")) from cause

    def _step_payload(self, action: AnyAction) -> dict[str, Any]:
        return action_to_wire(action)

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[ChaosOpsObservation]:
        return StepResult(*read_step(payload))

    def _parse_state(self, payload: dict[str, Any]) -> ChaosOpsState:
        return ChaosOpsState.model_validate(payload)
