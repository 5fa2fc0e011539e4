"""Puts security headers, rate limits, host and token checks in front of an application."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from starlette.middleware.cors import CORSMiddleware

from chaosops.access.asgi import ASGIApp, Message, Receive, Scope, Send, refuse
from chaosops.access.gate import Gate, Hosts
from chaosops.access.pace import Paced

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from chaosops.access.limits import Limits
    from chaosops.access.options import Access

# Which sites may show the page in a frame, as Content-Security-Policy writes it. A hosting site
# that embeds the page has to be named.
FRAME_VARIABLE = "CHAOSOPS_WEB_FRAME_ANCESTORS"
_STARTS = ("http.response.start", "websocket.http.response.start")


def security_headers() -> dict[str, str]:
    ancestors = os.environ.get(FRAME_VARIABLE, "'self'")
    return {
        "content-security-policy": (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            "connect-src 'self'; form-action 'self'; base-uri 'none'; "
            f"frame-ancestors {ancestors}"
        ),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
    }


async def _connect() -> Message:
    """The application has received it already."""
    return {"type": "websocket.connect"}


class Headed:
    """Adds the security headers, except those that a route sets itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = [(n.encode(), v.encode("latin-1")) for n, v in security_headers().items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_open = scope["type"] != "websocket"
        can_answer = "websocket.http.response" in scope.get("extensions", {})

        async def headed(message: Message) -> None:
            nonlocal is_open
            if message["type"] == "websocket.accept":
                is_open = True
            elif message["type"] == "websocket.close" and not is_open and can_answer:
                # uvicorn would answer 403 without a reason and without these headers.
                problem = message.get("reason") or "no WebSocket is served here"
                await refuse(scope, _connect, headed, 403, problem)
                return
            elif message["type"] in _STARTS:
                message = self._with_headers(message)
            await send(message)

        await self._app(scope, receive, headed)

    def _with_headers(self, message: Message) -> Message:
        given = list(message.get("headers", ()))
        own = {name.lower() for name, _ in given}
        return {**message, "headers": given + [one for one in self._headers if one[0] not in own]}


def protect(app: Starlette, access: Access, limits: Limits) -> None:
    """The host is checked first, so that no other site learns which origins are allowed."""
    build, origins, token = app.build_middleware_stack, access.origins, access.asked_token

    def protected() -> Any:
        inside: ASGIApp = Gate(build(), origins, token)
        if access.allow_origin:
            inside = CORSMiddleware(
                inside,
                allow_origins=[origin.lower() for origin in access.allow_origin],
                allow_methods=["GET", "POST"],
                allow_headers=["Authorization", "Content-Type"],
            )
        return Headed(Paced(Hosts(inside, origins), limits))

    app.build_middleware_stack = protected  # type: ignore[method-assign]
