"""ASGI, and how a request is refused before any route has seen it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


async def whole_body(receive: Receive, most: int) -> bytes | None:
    """None where the client left; of one that is too large, only what shows it."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += bytes(message.get("body", b""))
        if len(body) > most or not message.get("more_body", False):
            return body


def again(body: bytes, receive: Receive) -> Receive:
    """For whoever reads the body next."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return unread.pop() if unread else await receive()

    return replay


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    problem: str,
    headers: Mapping[str, str] | None = None,
) -> None:
    """An HTTP answer with one sentence under ``detail``; a WebSocket gets it instead of being
    accepted."""
    prefix = ""
    if scope["type"] == "websocket":
        await receive()
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": problem[:120]})
            return
        prefix = "websocket."
    body = json.dumps({"detail": problem}).encode()
    told = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
        **(headers or {}),
    }
    raw = [(name.encode(), value.encode()) for name, value in told.items()]
    await send({"type": f"{prefix}http.response.start", "status": status, "headers": raw})
    await send({"type": f"{prefix}http.response.body", "body": body})
