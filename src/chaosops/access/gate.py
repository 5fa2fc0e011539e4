"""The gate before all routes: which host was meant, which page asks, who shows the token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qs, quote

from chaosops.access.asgi import App, Receive, Scope, Send, refuse
from chaosops.access.clients import client_of, current_client
from chaosops.access.origins import Origins
from chaosops.access.tokens import COOKIE, Token

_HARMLESS = ("GET", "HEAD", "OPTIONS")
_OPEN = "/health"
_FORM = "application/x-www-form-urlencoded"
_FORM_BYTES = 4_096


@dataclass(frozen=True)
class Access:
    """``token``: empty where everybody may come in. ``trusted_proxies``: addresses and networks
    whose word about a visitor's address is taken."""

    public_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    token: str = ""
    trusted_proxies: tuple[str, ...] = ()


class Hosts:
    """Refuses a name that is not this server's: of a page whose name was pointed here."""

    def __init__(self, app: App, access: Access) -> None:
        self._app = app
        self._origins = Origins(access.public_hosts, access.allowed_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = None
        if scope["type"] in ("http", "websocket") and scope["path"] != _OPEN:
            problem = self._origins.problem_of_host(_host(scope))
        if problem:
            await refuse(scope, receive, send, 421, problem)
        else:
            await self._app(scope, receive, send)


class Gate:
    def __init__(self, app: App, access: Access) -> None:
        self._app = app
        self._origins = Origins(access.public_hosts, access.allowed_origins)
        self._token = Token(access.token) if access.token else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        current_client.set(client_of(scope))
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refuse(scope, receive, send, *refusal)
        elif (
            self._token is None
            or scope["path"] == _OPEN
            or self._token.is_shown_by(scope["headers"])
        ):
            await self._app(scope, receive, send)
        else:
            await self._ask(self._token, scope, headers, receive, send)

    def _refusal(self, scope: Scope, headers: Mapping[bytes, str]) -> tuple[int, str] | None:
        if scope["type"] == "http" and scope["method"] in _HARMLESS:
            return None
        given = [v.decode("latin-1") for name, v in scope["headers"] if name == b"origin"]
        if problem := self._origins.problem_of_origin(given, _host(scope)):
            return 403, problem
        has_body = headers.get(b"content-length", "0") != "0" or b"transfer-encoding" in headers
        kind = _kind(headers)
        if has_body and kind != "application/json" and not self._is_login(scope, kind):
            return 415, f"send JSON with the header Content-Type: application/json, not {kind!r}"
        return None

    def _is_login(self, scope: Scope, kind: str) -> bool:
        return (
            kind == _FORM
            and self._token is not None
            and not self._token.is_shown_by(scope["headers"])
        )

    async def _ask(
        self,
        token: Token,
        scope: Scope,
        headers: Mapping[bytes, str],
        receive: Receive,
        send: Send,
    ) -> None:
        is_http = scope["type"] == "http"
        if is_http and scope["method"] == "POST" and _kind(headers) == _FORM:
            given = await _form_token(receive)
            if token.is_right(given):
                await _let_in(token, scope, send)
            else:
                await _show_form(send, "That is not this server's token.")
        elif is_http and scope["method"] == "GET" and "text/html" in headers.get(b"accept", ""):
            await _show_form(send, "This server asks for its token.")
        else:
            problem = (
                "this server asks for its token: send the header Authorization: Bearer TOKEN, "
                "or set CHAOSOPS_TOKEN for chaosops' own clients"
            )
            await refuse(scope, receive, send, 401, problem, {"www-authenticate": "Bearer"})


def _host(scope: Scope) -> str | None:
    given = [value for name, value in scope["headers"] if name == b"host"]
    return str(given[-1].decode("latin-1")) if given else None


def _kind(headers: Mapping[bytes, str]) -> str:
    return headers.get(b"content-type", "").partition(";")[0].strip().lower()


async def _form_token(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if len(body) > _FORM_BYTES or not message.get("more_body", False):
            break
    fields = parse_qs(body[:_FORM_BYTES].decode("latin-1"))
    return fields.get("token", [""])[0].strip().encode()


async def _let_in(token: Token, scope: Scope, send: Send) -> None:
    """Back to the page that was asked for. Relative, because a proxy may serve it elsewhere."""
    here = quote(scope["path"].rpartition("/")[2]) or "."
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    cookie = f"{COOKIE}={token.cookie}; Path=/; HttpOnly; SameSite=Strict{secure}"
    query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
    headers = [
        (b"location", f"./{here}{query}".encode("latin-1")),
        (b"set-cookie", cookie.encode()),
        (b"content-length", b"0"),
    ]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _show_form(send: Send, words: str) -> None:
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<title>ChaosOps: token</title>"
        '<meta name="viewport" content="width=device-width, initial-scale=1"></head><body>'
        f'<h1>ChaosOps</h1><form method="post"><p>{escape(words)}</p>'
        '<p><label>Token <input type="password" name="token" autocomplete="current-password" '
        "required autofocus></label> <button>Enter</button></p></form></body></html>\n"
    )
    body = page.encode()
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"www-authenticate", b"Bearer"),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})
