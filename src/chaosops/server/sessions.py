"""OpenEnv's sessions, with a quota for each client and one owner for each session."""

from __future__ import annotations

from typing import Any

import orjson
from openenv.core.env_server import http_server

from chaosops.access.asgi import current_client
from chaosops.access.limits import OverQuota, Quota
from chaosops.client.openenv_core import HTTPEnvServer, SessionCapacityError
from chaosops.server import messages
from chaosops.server.guard import on_socket


class Sessions(HTTPEnvServer):  # type: ignore[misc]
    """A session that a WebSocket opened belongs to that socket. OpenEnv would let an agent that
    knows the session's id reset or close it over /mcp."""

    def __init__(self, quota: Quota, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._quota = quota
        self._owners: dict[str, str] = {}

    async def _create_session(self) -> Any:
        client = current_client.get()
        try:
            self._quota.take(client)
        except OverQuota as error:
            raise SessionCapacityError(self._quota.taken, self._quota.most, str(error)) from None
        try:
            created = await super()._create_session()
        except BaseException:
            self._quota.give_back(client)
            raise
        self._owners[created[0]] = client
        if on_socket.get():
            self._session_websocket_attachments.add(created[0])
        return created

    async def _destroy_session(self, session_id: str) -> None:
        owner = self._owners.pop(session_id, None)
        try:
            await super()._destroy_session(session_id)
        finally:
            if owner is not None:
                self._quota.give_back(owner)


class ObservationResponse:
    """The answer to ``reset`` and ``step``: as much of ``WSObservationResponse`` as OpenEnv uses.
    Writing it with pydantic takes longer than playing the step."""

    __slots__ = ("_data",)

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def model_dump_json(self) -> str:
        return orjson.dumps({"type": "observation", "data": self._data}).decode()


_REPLACED = {
    "WSResetMessage": messages.ResetMessage,
    "WSStepMessage": messages.StepMessage,
    "WSStateMessage": messages.StateMessage,
    "WSCloseMessage": messages.CloseMessage,
    "WSMCPMessage": messages.McpMessage,
    "WSObservationResponse": ObservationResponse,
    "ResetRequest": messages.ResetRequest,
    "StepRequest": messages.StepRequest,
    "ResetResponse": messages.Observed,
    "StepResponse": messages.Observed,
}


def use_own_messages() -> None:
    """OpenEnv's handlers look these classes up by name, so others can replace them."""
    for name, model in _REPLACED.items():
        assert hasattr(http_server, name)
        setattr(http_server, name, model)
