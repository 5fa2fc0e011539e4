"""The guard in front of OpenEnv's routes. It answers messages that would break a session.

OpenEnv ends a session when a message is binary, is not a JSON object, or cannot be quoted in an
answer. It keeps idle sessions, and reads requests of any size. The guard answers such messages
with an error and keeps the session; it closes idle sessions. It changes nothing else.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import MutableMapping
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

from chaosops.access.asgi import ASGIApp, Message, Receive, Send, again, refuse, whole_body
from chaosops.server.errors import Refusal, in_one_line
from chaosops.server.strict_json import (
    MAX_MESSAGE_BYTES,
    BadJson,
    NotJson,
    read_json,
    read_message,
)

# Larger messages are refused by the transport, which closes the connection with code 1009.
MAX_FRAME_BYTES = 1_048_576

_SOCKETS = ("/ws", "/mcp")
# Whether a WebSocket is being served.
on_socket: ContextVar[bool] = ContextVar("on_socket", default=False)

_PLAY = frozenset({"reset", "step", "mcp"})  # what counts as using a session


class Guard:
    def __init__(self, app: ASGIApp, idle_timeout_s: float) -> None:
        self._app = app
        self._idle_timeout_s = idle_timeout_s

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and scope["path"] in _SOCKETS:
            rpc = scope["path"] == "/mcp"
            socket = _GuardedSocket(receive, send, self._idle_timeout_s, rpc)
            watch = asyncio.create_task(socket.watch())
            on_socket.set(True)
            try:
                await self._app(scope, socket.receive, socket.send)
            finally:
                watch.cancel()
        elif scope["type"] == "http" and scope["method"] == "POST":
            await self._post(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _post(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        body = await whole_body(receive, MAX_MESSAGE_BYTES)
        if body is None:  # the client left
            return
        if len(body) > MAX_MESSAGE_BYTES:
            size = f"a request may have {MAX_MESSAGE_BYTES} bytes"
            await refuse(scope, receive, send, 413, size)
        elif problem := _problem_of_body(body, scope["path"]):
            await refuse(scope, receive, send, 400, problem)
        else:
            await self._app(scope, again(body, receive), send)


class _GuardedSocket:
    def __init__(self, receive: Receive, send: Send, idle_timeout_s: float, rpc: bool) -> None:
        self._receive = receive
        self._send = send
        self._idle_timeout_s = idle_timeout_s
        self._rpc = rpc
        self._closed = False
        self._last_play = time.monotonic()

    async def watch(self) -> None:
        """End the session when nothing is played. The client is told why; OpenEnv sees a client
        that left."""
        while (left := self._last_play + self._idle_timeout_s - time.monotonic()) > 0:
            await asyncio.sleep(left)
        reason = f"nothing was played for {self._idle_timeout_s:g} s: the session is closed"
        with suppress(OSError, RuntimeError):  # the client may have left
            await self._tell("IDLE_TIMEOUT", reason)
            await self.send({"type": "websocket.close", "code": 1001, "reason": reason})
        self._closed = True

    async def receive(self) -> Message:
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive":
                return message
            problem = self._problem_of(message)
            if problem is None:
                return message
            await self._tell(*problem)

    async def send(self, message: Message) -> None:
        if self._closed:
            return
        text = message.get("text")
        if text is not None and text.startswith('{"type":"error"'):
            message = {**message, "text": _plainer(text)}
        await self._send(message)

    def _problem_of(self, message: Message) -> tuple[str, str] | None:
        try:
            content = read_message(message.get("text"), '{"type": "state"}')
        except Refusal as error:
            return error.code, str(error)
        except BadJson as error:
            return "INVALID_JSON", str(error)
        kind = content.get("type", "")
        if not isinstance(kind, str):
            return "VALIDATION_ERROR", "type must be text"
        if self._rpc or kind in _PLAY:
            self._last_play = time.monotonic()
        return None

    async def _tell(self, code: str, problem: str) -> None:
        if self._rpc:
            number = -32700 if code == "INVALID_JSON" else -32600
            error = {"code": number, "message": problem, "data": None}
            content: dict[str, Any] = {"jsonrpc": "2.0", "id": None, "error": error}
        else:
            content = {"type": "error", "data": {"message": problem, "code": code}}
        await self.send({"type": "websocket.send", "text": json.dumps(content)})


def _plainer(text: str) -> str:
    """The error without the message that caused it, which OpenEnv quotes in full."""
    content = json.loads(text)
    errors = content["data"].pop("errors", None)
    if errors:
        content["data"]["message"] = in_one_line(errors)
    return json.dumps(content)


def _problem_of_body(body: bytes, path: str) -> str | None:
    """Finds only what would break an answer. The routes report everything else."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return "the request is not UTF-8 text"
    try:
        content = read_json(text)
    except NotJson:
        return None
    except BadJson as error:
        return str(error)
    if path == "/mcp" and isinstance(content, dict):
        params = content.get("params")
        session = params.get("session_id") if isinstance(params, dict) else None
        if session is not None and not isinstance(session, str):
            return "session_id must be text"
    return None
