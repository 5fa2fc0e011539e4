"""A typed client that plays all roles of one episode at a time, over a WebSocket."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Coroutine, Mapping
from functools import cache
from threading import Thread
from typing import Any, NamedTuple, Self, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from chaosops.client.connecting import NOT_REACHED, refusal, socket_options, socket_url
from chaosops.wire.openenv import ChaosOpsAction, ChaosOpsObservation, ChaosOpsState

_Result = TypeVar("_Result")


class StepResult(NamedTuple):
    """``reward`` is None after a reset, and always in evaluation mode."""

    observation: ChaosOpsObservation
    reward: float | None
    done: bool


class ChaosOpsEnv:
    """The observation says which role is on turn.

    Asynchronous, with ``await``; ``ChaosOpsEnv(URL).sync()`` for plain code. ``reset`` takes
    ``pack``, ``scenario``, ``tier``, ``split``, ``seed``, ``max_steps`` and ``format``; ``step``
    takes a ``ChaosOpsAction``, the flat JSON action as a dict, or a model's reply as text.

    A server that asks for a token gets ``token``, or ``CHAOSOPS_TOKEN`` from the environment.
    What the server refuses is a ``RuntimeError``; a server that is not there, a
    ``ConnectionError``.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        connect_timeout_s: float = 10.0,
        message_timeout_s: float = 60.0,
    ) -> None:
        self._url = base_url
        self._address = socket_url(base_url, "/ws")
        self._options = socket_options(self._address, token) | {"open_timeout": connect_timeout_s}
        self._options["additional_headers"] |= headers or {}
        self._message_timeout_s = message_timeout_s
        self._socket: ClientConnection | None = None

    async def connect(self) -> Self:
        if self._socket is None:
            try:
                self._socket = await connect(self._address, **self._options)
            except (*NOT_REACHED, WebSocketException) as error:
                raise ConnectionError(refusal(self._url, error, "token=")) from error
        return self

    async def reset(self, **options: Any) -> StepResult:
        return _read_result(await self._ask("reset", options))

    async def step(self, action: ChaosOpsAction | Mapping[str, Any] | str) -> StepResult:
        if isinstance(action, str):
            action = {"reply": action}
        elif not isinstance(action, Mapping):
            action = action.model_dump(exclude_none=True, exclude_defaults=True)
        return _read_result(await self._ask("step", action))

    async def state(self) -> ChaosOpsState:
        return ChaosOpsState.model_validate(await self._ask("state"))

    async def close(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()

    async def __aenter__(self) -> Self:
        return await self.connect()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def sync(self) -> SyncChaosOpsEnv:
        return SyncChaosOpsEnv(self)

    async def _ask(self, kind: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
        await self.connect()
        assert self._socket is not None
        message = {"type": kind} if data is None else {"type": kind, "data": dict(data)}
        try:
            async with asyncio.timeout(self._message_timeout_s):
                await self._socket.send(json.dumps(message))
                answer = json.loads(await self._socket.recv())
        except WebSocketException as error:
            self._socket = None
            raise ConnectionError(f"the connection to the server was lost: {error}") from error
        except TimeoutError:
            await self.close()  # the late answer would be taken for that to the next message
            raise TimeoutError(
                f"no answer within {self._message_timeout_s:g} s; give a larger message_timeout_s="
            ) from None
        content: dict[str, Any] = answer["data"]
        if answer["type"] == "error":
            raise RuntimeError(f"Server error: {content['message']} (code: {content['code']})")
        return content


class SyncChaosOpsEnv:
    """The same without ``await``, for plain code and notebooks."""

    def __init__(self, env: ChaosOpsEnv) -> None:
        self._env = env

    def reset(self, **options: Any) -> StepResult:
        return _run(self._env.reset(**options))

    def step(self, action: ChaosOpsAction | Mapping[str, Any] | str) -> StepResult:
        return _run(self._env.step(action))

    def state(self) -> ChaosOpsState:
        return _run(self._env.state())

    def close(self) -> None:
        _run(self._env.close())

    def __enter__(self) -> Self:
        _run(self._env.connect())
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _run(work: Coroutine[Any, Any, _Result]) -> _Result:
    return asyncio.run_coroutine_threadsafe(work, _loop(os.getpid())).result()


@cache
def _loop(_: int) -> asyncio.AbstractEventLoop:
    """In a thread of its own, because a notebook runs a loop already. One for each process: a
    fork does not take threads along."""
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="chaosops client", daemon=True).start()
    return loop


def _read_result(payload: dict[str, Any]) -> StepResult:
    reward, done = payload.get("reward"), payload.get("done", False)
    observation = ChaosOpsObservation.model_validate(
        {**payload["observation"], "reward": reward, "done": done}
    )
    return StepResult(observation, reward, done)
