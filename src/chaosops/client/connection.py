"""A WebSocket to a server. Every error is a ``BadInput`` of one line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import IO, Any, Self
from urllib.parse import urlsplit

from chaosops.access.tokens import token_headers
from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.loopback import is_loopback

_SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}
_MAX_MESSAGE_BYTES = 4_000_000
_CURES = {
    401: "the server asks for its token: set CHAOSOPS_TOKEN, or give {option}",
    429: "the server has too many requests at the moment: try again in a few seconds",
}


class Connection:
    """A server that asks for a token gets ``token``, or ``CHAOSOPS_TOKEN`` from the environment.
    ``option`` names the option for it in errors. ``received`` gets every message, one per line."""

    def __init__(
        self,
        url: str,
        path: str,
        token: str | None = None,
        option: str = "token=",
        received: IO[str] | None = None,
    ) -> None:
        try:
            from websockets.exceptions import WebSocketException
            from websockets.sync.client import connect
        except ImportError:
            raise MissingExtra("a client", "websockets", "client") from None
        self._lost = (WebSocketException, OSError)
        self._received = received
        address = _socket_url(url, path)
        direct: Any = {"proxy": None} if is_loopback(address) else {}
        headers = dict(token_headers(token))
        self._open = ExitStack()
        try:
            opened = connect(
                address, max_size=_MAX_MESSAGE_BYTES, additional_headers=headers, **direct
            )
            self._socket = self._open.enter_context(opened)
        # A ValueError is an invalid port, or an invalid proxy in the environment. An ImportError
        # is a kind of proxy that needs another package.
        except (*self._lost, ValueError, ImportError) as error:
            raise BadInput(refusal(url, error, option)) from None

    def ask(self, kind: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a message and return the content of the answer."""
        self.send(kind, data)
        return self.receive()[1]

    def send(self, kind: str, data: Mapping[str, Any] | None = None) -> None:
        message = {"type": kind} if data is None else {"type": kind, "data": dict(data)}
        with suppress(*self._lost):  # the server may have said why before it closed
            self._socket.send(json.dumps(message))

    def receive(self) -> tuple[str, dict[str, Any]]:
        """The kind of the next message, and its content."""
        try:
            text = self._socket.recv()
        except self._lost as error:
            raise BadInput(f"the connection to the server was lost: {error}") from None
        if self._received is not None:
            self._received.write(f"{text!s}\n")
        try:
            message = json.loads(text)
            kind, data = message["type"], message["data"]
        except (ValueError, TypeError, KeyError, RecursionError):
            kind, data = None, None
        if not isinstance(kind, str) or not isinstance(data, dict):
            raise BadInput("the answer is not that of a ChaosOps server; check its URL")
        if kind == "error":
            raise BadInput(str(data.get("message")))
        return kind, data

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def refusal(url: str, error: BaseException, option: str) -> str:
    """Why a server was not reached, and the cure if there is one."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    cure = f"; {_CURES[status].format(option=option)}" if status in _CURES else ""
    return f"cannot reach a ChaosOps server at {url}: {error}{cure}"


def _socket_url(url: str, path: str) -> str:
    """
    >>> _socket_url("http://127.0.0.1:8000/", "/seat")
    'ws://127.0.0.1:8000/seat'
    """
    scheme, _, rest = url.partition("://")
    try:
        parts = urlsplit(f"http://{rest}")
        is_address = scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an unclosed bracket, or an invalid port
        is_address = False
    if not is_address:
        raise BadInput(
            f"{url!r} is not a server's address; write one such as http://127.0.0.1:8000"
        )
    return f"{_SCHEMES[scheme]}://{rest.rstrip('/')}{path}"
