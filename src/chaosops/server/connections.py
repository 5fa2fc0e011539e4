"""Connections: how many there may be, and how long a request may take to arrive.

uvicorn waits for a request for ever. Whoever opens connections and says nothing would hold them
all; here the oldest of those that wait for a request makes room for the next one.
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.auto import AutoWebSocketsProtocol

from chaosops.access.clients import name_of
from chaosops.access.headers import security_headers

# A reader that takes nothing for so long is gone: its episode or session is needed by others.
WRITE_TIMEOUT_S = 30.0


class _Connection(Protocol):
    client: tuple[str, int] | None
    transport: asyncio.Transport


class Connections:
    """``is_shared``: whether an address stands for many clients, as a proxy's does."""

    def __init__(self, most: int, most_each: int, is_shared: Any = None) -> None:
        self._most = most
        self._most_each = most_each
        self._is_shared = is_shared or (lambda _: False)
        self._open: dict[_Connection, str] = {}
        self._by_client: dict[str, int] = {}
        self._waiting: dict[_Connection, str] = {}  # the oldest first

    def __len__(self) -> int:
        return len(self._open)

    def opened(self, connection: _Connection) -> None:
        client = self._name(connection)
        self._open[connection] = client
        self._by_client[client] = self._by_client.get(client, 0) + 1

    def closed(self, connection: _Connection) -> None:
        self._waiting.pop(connection, None)
        client = self._open.pop(connection, None)
        if client is not None:
            self._by_client[client] -= 1
            if not self._by_client[client]:
                del self._by_client[client]

    def make_room(self, newest: _Connection) -> None:
        """Close one, if there are more than may be: the client's own if it has too many. Where
        none waits for a request, the newest one is closed."""
        client = self._open[newest]
        crowded = self._by_client[client] > self._most_each
        if crowded and not (client and self._is_shared(client)):
            theirs = (one for one, name in self._waiting.items() if name == client)
            self._drop(next(theirs, newest))
        elif len(self._open) > self._most:
            self._drop(next(iter(self._waiting), newest))

    def free_some(self, count: int) -> None:
        """No file descriptor is left: close the oldest that wait for a request."""
        for one in list(self._waiting)[:count]:
            self._drop(one)

    def waits(self, connection: _Connection) -> None:
        if connection in self._open:
            self._waiting[connection] = self._open[connection]

    def works(self, connection: _Connection) -> None:
        self._waiting.pop(connection, None)

    def _drop(self, connection: _Connection) -> None:
        self.closed(connection)
        connection.transport.abort()

    @staticmethod
    def _name(connection: _Connection) -> str:
        return name_of(connection.client[0]) if connection.client else ""


def guarded_protocols(
    connections: Connections, request_timeout_s: float, write_timeout_s: float = WRITE_TIMEOUT_S
) -> tuple[type[asyncio.Protocol], type[asyncio.Protocol]]:
    """uvicorn's protocols for HTTP and for WebSockets. h11 bounds the headers; the faster parser
    that uvicorn would take where it is installed does not."""
    http: Any = H11Protocol
    websocket: Any = AutoWebSocketsProtocol

    class Stalling:
        """Ends a connection whose other side does not read."""

        transport: asyncio.Transport
        loop: asyncio.AbstractEventLoop
        _stall: asyncio.TimerHandle | None = None

        def pause_writing(self) -> None:
            self._stall = self.loop.call_later(write_timeout_s, self.transport.abort)
            super().pause_writing()  # type: ignore[misc]

        def resume_writing(self) -> None:
            self._end_stall()
            super().resume_writing()  # type: ignore[misc]

        def connection_lost(self, error: Exception | None) -> None:
            self._end_stall()
            connections.closed(self)  # type: ignore[arg-type]
            super().connection_lost(error)  # type: ignore[misc]

        def _end_stall(self) -> None:
            if self._stall is not None:
                self._stall.cancel()
                self._stall = None

    class GuardedHTTP(Stalling, http):  # type: ignore[misc]
        _deadline: asyncio.TimerHandle | None = None
        _answered: Any = None  # the request before the one that is awaited

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            connections.opened(self)
            self._await_request()
            connections.make_room(self)

        def data_received(self, data: bytes) -> None:
            if self.transport.is_closing():
                return
            if self._deadline is None:
                self._await_request()
            super().data_received(data)
            if self.transport.get_protocol() is not self:  # a WebSocket now, counted as such
                self._stop_waiting()
                connections.closed(self)
            elif self._has_arrived():
                self._stop_waiting()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self._deadline is None:
                connections.waits(self)  # for the next request, or for the end

        def connection_lost(self, error: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(error)

        def send_400_response(self, message: str) -> None:
            self._refuse(400, message)

        def _await_request(self) -> None:
            self._answered = self.cycle
            self._deadline = self.loop.call_later(request_timeout_s, self._too_late)
            connections.waits(self)

        def _stop_waiting(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None
            connections.works(self)

        def _has_arrived(self) -> bool:
            """With its whole body."""
            cycle = self.cycle
            return cycle is not self._answered and not cycle.more_body

        def _too_late(self) -> None:
            self._deadline = None
            if self._has_arrived():
                connections.works(self)
            elif self.cycle is None or self.cycle.response_complete or self.cycle.more_body:
                self._refuse(408, f"no whole request came within {request_timeout_s:g} s")
            else:  # one request was sent after the other, and the first is still being answered
                self._await_request()

        def _refuse(self, status: int, words: str) -> None:
            is_silent = self.cycle is None or self.cycle.response_complete
            if is_silent or not self.cycle.response_started:
                self.transport.write(_raw_answer(status, words))
            self.transport.close()

    class GuardedWebSocket(Stalling, websocket):  # type: ignore[misc]
        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            connections.opened(self)

        async def send(self, message: Any) -> None:
            await super().send(message)
            # uvicorn would log each refusal as an application that forgot to answer.
            if message["type"] == "websocket.http.response.body":
                self.handshake_complete = True

    return GuardedHTTP, GuardedWebSocket


def _raw_answer(status: int, words: str) -> bytes:
    named = {400: "Bad Request", 408: "Request Timeout"}[status]
    body = f"{words}\n".encode()
    headers = {
        "content-type": "text/plain; charset=utf-8",
        "content-length": str(len(body)),
        "connection": "close",
        **security_headers(),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} {named}\r\n{lines}\r\n".encode("latin-1") + body
