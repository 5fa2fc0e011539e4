"""Checks in front of an application: headers, rates, hosts, origins and the token."""

from __future__ import annotations

import os
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response

from chaosops.access.asgi import (
    ASGIApp,
    Message,
    Receive,
    Scope,
    Send,
    client_of,
    current_client,
    refuse,
    whole_body,
)
from chaosops.access.limits import TOO_FAST, Limits
from chaosops.access.options import Access
from chaosops.access.origins import Origins
from chaosops.access.pace import Paced
from chaosops.access.tokens import COOKIE, Token

if TYPE_CHECKING:
    from starlette.applications import Starlette

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_HEALTH = "/health"
_FORM = "application/x-www-form-urlencoded"
_FORM_BYTES = 4_096
_ASKED = (
    "this server asks for its token: send the header Authorization: Bearer TOKEN, "
    "or set CHAOSOPS_TOKEN for chaosops' own clients"
)
_PAGE = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    "<title>ChaosOps: token</title>"
    '<meta name="viewport" content="width=device-width, initial-scale=1"></head><body>'
    '<h1>ChaosOps</h1><form method="post"><p>{}</p>'
    '<p><label>Token <input type="password" name="token" autocomplete="current-password" '
    "required autofocus></label> <button>Enter</button></p></form></body></html>\n"
)
# Which sites may show the page in a frame, as Content-Security-Policy writes it. A hosting site
# that embeds the page has to be named.
FRAME_VARIABLE = "CHAOSOPS_WEB_FRAME_ANCESTORS"
_STARTS = ("http.response.start", "websocket.http.response.start")


def is_framed() -> bool:
    """Whether another site may show the page in a frame."""
    return _ancestors() not in ("'self'", "'none'")


def _ancestors() -> str:
    return os.environ.get(FRAME_VARIABLE, "'self'").strip() or "'self'"


def security_headers() -> dict[str, str]:
    ancestors = _ancestors()
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
    """Replaces ``receive``: the application has received the connect message already."""
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


class Hosts:
    """Refuses a host name that is not this server's. A DNS-rebinding page has such a name."""

    def __init__(self, app: ASGIApp, origins: Origins) -> None:
        self._app = app
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = None
        if scope["type"] in ("http", "websocket") and scope["path"] != _HEALTH:
            problem = self._origins.problem_of_host(_host(Headers(scope=scope)))
        if problem:
            await refuse(scope, receive, send, 421, problem)
        else:
            await self._app(scope, receive, send)


class Gate:
    """Refuses requests that are too fast, foreign pages, bodies that are not JSON, and clients
    without the token."""

    def __init__(self, app: ASGIApp, origins: Origins, token: Token | None) -> None:
        self._app = app
        self._origins = origins
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if option := scope.get(TOO_FAST):
            problem = (
                f"too many requests; ask less often, or start the server with a larger {option}"
            )
            await refuse(scope, receive, send, 429, problem, {"retry-after": "5"})
            return
        current_client.set(client_of(scope))
        headers = Headers(scope=scope)
        token = self._token
        if token and (scope["path"] == _HEALTH or token.is_shown_by(HTTPConnection(scope))):
            token = None
        refusal = self._refusal(scope, headers, may_log_in=token is not None)
        if refusal is not None:
            await refuse(scope, receive, send, *refusal)
        elif token is None:
            await self._app(scope, receive, send)
        else:
            await _ask(token, scope, headers, receive, send)

    def _refusal(
        self, scope: Scope, headers: Headers, *, may_log_in: bool
    ) -> tuple[int, str] | None:
        if scope["type"] == "http" and scope["method"] in _SAFE_METHODS:
            return None
        if problem := self._origins.problem_of_origin(headers.getlist("origin"), _host(headers)):
            return 403, problem
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        kind = _content_type(headers)
        if has_body and kind != "application/json" and not (may_log_in and kind == _FORM):
            return 415, f"send JSON with the header Content-Type: application/json, not {kind!r}"
        return None


async def _ask(token: Token, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
    """Browsers get a form and then a cookie; other clients get an error."""
    is_http = scope["type"] == "http"
    if is_http and scope["method"] == "POST" and _content_type(headers) == _FORM:
        body = await whole_body(receive, _FORM_BYTES) or b""
        fields = parse_qs(body[:_FORM_BYTES].decode("latin-1"))
        if token.is_right(fields.get("token", [""])[0].strip()):
            answer = _entered(token, scope)
        else:
            answer = _form("That is not this server's token.")
    elif is_http and scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
        answer = _form("This server asks for its token.")
    else:
        await refuse(scope, receive, send, 401, _ASKED, {"www-authenticate": "Bearer"})
        return
    await answer(scope, receive, send)


def _form(words: str) -> Response:
    headers = {"cache-control": "no-store", "www-authenticate": "Bearer"}
    return HTMLResponse(_PAGE.format(escape(words)), 401, headers)


def _entered(token: Token, scope: Scope) -> Response:
    """Redirect to the requested page. The link is relative, because a proxy may serve the page
    below a prefix."""
    here = quote(scope["path"].rpartition("/")[2]) or "."
    query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
    answer = Response(status_code=303, headers={"location": f"./{here}{query}"})
    is_secure = scope.get("scheme") == "https"
    answer.set_cookie(COOKIE, token.cookie, httponly=True, samesite="strict", secure=is_secure)
    return answer


def _host(headers: Headers) -> str | None:
    return next(reversed(headers.getlist("host")), None)


def _content_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


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
