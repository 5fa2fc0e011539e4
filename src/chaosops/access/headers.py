"""Headers that every answer has: pages, JSON, errors and refusals alike."""

from __future__ import annotations

import os

from chaosops.access.asgi import App, Message, Receive, Scope, Send

# Who may show the page in a frame, as Content-Security-Policy writes it: a hosting site
# that embeds its visitors' view has to be named.
FRAME_VARIABLE = "CHAOSOPS_WEB_FRAME_ANCESTORS"


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


class Headed:
    """Adds them where a route has not set its own."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._headers = [(n.encode(), v.encode("latin-1")) for n, v in security_headers().items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                own = {name.lower() for name, _ in given}
                given += [pair for pair in self._headers if pair[0] not in own]
                message = {**message, "headers": given}
            await send(message)

        await self._app(scope, receive, headed if scope["type"] == "http" else send)
