"""A request before any route has seen it: its client, its body, and how it is refused."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from contextvars import ContextVar
from functools import lru_cache

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["ASGIApp", "Message", "Receive", "Scope", "Send"]  # beside what is defined here

# The client that is being served, for code that has no request.
current_client: ContextVar[str] = ContextVar("current_client", default="nobody")


def client_of(scope: Scope) -> str:
    """Behind a trusted proxy, uvicorn has put the visitor's own address here."""
    client = scope.get("client")
    return "unknown" if client is None else name_of(str(client[0]))


@lru_cache(maxsize=4096)
def name_of(address: str) -> str:
    """One name for all addresses of a client: an IPv6 host has a whole /64 of them.

    >>> name_of("203.0.113.7"), name_of("::ffff:203.0.113.7")
    ('203.0.113.7', '203.0.113.7')
    >>> name_of("2001:db8::1") == name_of("2001:db8::2")
    True
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((ip, 64), strict=False))


async def whole_body(receive: Receive, most: int) -> bytes | None:
    """None if the client left. A body that is too large is read only until it exceeds ``most``."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += bytes(message.get("body", b""))
        if len(body) > most or not message.get("more_body", False):
            return body


def again(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that returns the body once more."""
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
