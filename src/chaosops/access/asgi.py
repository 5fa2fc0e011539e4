"""Reading a request's body, and refusing a request before any route has seen it."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import JSONResponse
from starlette.types import ASGIApp as App
from starlette.types import Message, Receive, Scope, Send

__all__ = ["App", "Message", "Receive", "Scope", "Send", "again", "refuse", "whole_body"]


async def whole_body(receive: Receive, most: int) -> bytes | None:
    """None where the client left. A body that is too large is read until that is known."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += bytes(message.get("body", b""))
        if len(body) > most or not message.get("more_body", False):
            return body


def again(body: bytes, receive: Receive) -> Receive:
    """Gives the body to the next reader too."""
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
    """An HTTP answer with one sentence under ``detail``. A WebSocket gets it instead of being
    accepted."""
    if scope["type"] == "websocket":
        await receive()
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": problem[:120]})
            return
    told = {"connection": "close", **(headers or {})}
    await JSONResponse({"detail": problem}, status, told)(scope, receive, send)
