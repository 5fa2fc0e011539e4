"""Limits on connections: how many there may be, and how long a request may take to arrive.

uvicorn waits for a request for ever, so a client that opens connections and sends nothing would
hold them all. Here the connection that has waited longest is closed for the next one.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, ClassVar, Protocol

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.auto import AutoWebSocketsProtocol

from chaosops.access.asgi import name_of
from chaosops.access.protect import security_headers

# A client that reads nothing for this long is gone, and others need its session.
WRITE_TIMEOUT_S = 30.0
# h11 limits the size of headers. uvicorn's faster parser, if installed, does not.
_HTTP: Any = H11Protocol
_WebSocket: Any = AutoWebSocketsProtocol


class _Connection(Protocol):
    client: tuple[str, int] | None
    transport: asyncio.Transport


class Connections:
    """``is_shared`` tells whether many clients share an address, such as a proxy's."""

    def __init__(self, most: int, most_each: int, is_shared: Any = None) -> None:
        self._most = most
        self._most_each = most_each
        self._is_shared = is_shared or (lambda _: False)
        self._open: dict[_Connection, str] = {}
        self._waiting: dict[_Connection, str] = {}  # those that wait longest come first

    def __len__(self) -> int:
        return len(self._open)

    def opened(self, connection: _Connection) -> None:
        self._open[connection] = name_of(connection.client[0]) if connection.client else ""

    def closed(self, connection: _Connection) -> None:
        self._waiting.pop(connection, None)
        self._open.pop(connection, None)

    def make_room(self, newest: _Connection) -> None:
        """Closes a connection if there are too many: one of the client's own if the client has too
        many. If none waits for a request, the newest is closed."""
        client = self._open[newest]
        crowded = [*self._open.values()].count(client) > self._most_each
        if crowded and not (client and self._is_shared(client)):
            theirs = (one for one, name in self._waiting.items() if name == client)
            self._drop(next(theirs, newest))
        elif len(self._open) > self._most:
            self._drop(next(iter(self._waiting), newest))

    def free_some(self, count: int) -> None:
        """Closes the connections that have waited longest, when no file descriptor is left."""
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


class _Guarded:
    """Counts a connection, and ends one whose client does not read."""

    counted: ClassVar[Connections]
    request_timeout_s: ClassVar[float]
    write_timeout_s: ClassVar[float]
    client: tuple[str, int] | None
    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    _stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)  # type: ignore[misc]
        self.counted.opened(self)

    def pause_writing(self) -> None:
        self._stall = self.loop.call_later(self.write_timeout_s, self.transport.abort)
        super().pause_writing()  # type: ignore[misc]

    def resume_writing(self) -> None:
        self._end_stall()
        super().resume_writing()  # type: ignore[misc]

    def connection_lost(self, error: Exception | None) -> None:
        self._end_stall()
        self.counted.closed(self)
        super().connection_lost(error)  # type: ignore[misc]

    def _end_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None


class _GuardedHTTP(_Guarded, _HTTP):  # type: ignore[misc]
    _deadline: asyncio.TimerHandle | None = None
    _answered: Any = None  # the request before the one that is awaited

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._await_request()
        self.counted.make_room(self)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._deadline is None:
            self._await_request()
        super().data_received(data)
        if self.transport.get_protocol() is not self:  # a WebSocket now, counted as such
            self._stop_waiting()
            self.counted.closed(self)
        elif self._has_arrived():
            self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._deadline is None:
            self.counted.waits(self)  # for the next request, or for the end

    def connection_lost(self, error: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(error)

    def send_400_response(self, message: str) -> None:
        self._refuse(400, message)

    def _await_request(self) -> None:
        self._answered = self.cycle
        self._deadline = self.loop.call_later(self.request_timeout_s, self._too_late)
        self.counted.waits(self)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self.counted.works(self)

    def _has_arrived(self) -> bool:
        """Whether the request has arrived with its whole body."""
        cycle = self.cycle
        return cycle is not self._answered and not cycle.more_body

    def _too_late(self) -> None:
        self._deadline = None
        if self._has_arrived():
            self.counted.works(self)
        elif self.cycle is None or self.cycle.response_complete or self.cycle.more_body:
            self._refuse(408, f"no whole request came within {self.request_timeout_s:g} s")
        else:  # the client sent the next request while the first one is being answered
            self._await_request()

    def _refuse(self, status: int, words: str) -> None:
        is_silent = self.cycle is None or self.cycle.response_complete
        if is_silent or not self.cycle.response_started:
            self.transport.write(_raw_answer(status, words))
        self.transport.close()


class _GuardedWebSocket(_Guarded, _WebSocket):  # type: ignore[misc]
    async def send(self, message: Any) -> None:
        await super().send(message)
        # uvicorn would log each refusal as an application that forgot to answer.
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True


def guarded_protocols(
    connections: Connections, request_timeout_s: float, write_timeout_s: float = WRITE_TIMEOUT_S
) -> tuple[type[asyncio.Protocol], type[asyncio.Protocol]]:
    """uvicorn's protocols for HTTP and for WebSockets, with a guard for these connections."""
    settings = {
        "counted": connections,
        "request_timeout_s": request_timeout_s,
        "write_timeout_s": write_timeout_s,
    }
    http = type("GuardedHTTP", (_GuardedHTTP,), settings)
    return http, type("GuardedWebSocket", (_GuardedWebSocket,), settings)


def _raw_answer(status: int, words: str) -> bytes:
    body = f"{words}\n".encode()
    headers = {
        "content-type": "text/plain; charset=utf-8",
        "content-length": str(len(body)),
        "connection": "close",
        **security_headers(),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{lines}\r\n".encode("latin-1") + body
