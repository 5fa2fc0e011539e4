"""Accepting connections at a limited rate. A failure to accept is one line in the log."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from ipaddress import ip_network
from typing import Any

import uvicorn

from chaosops.access.limits import Limits
from chaosops.access.options import Access
from chaosops.access.pace import Rate
from chaosops.core.errors import BadInput
from chaosops.server.connections import Connections, guarded_protocols

log = logging.getLogger(__name__)

ACCEPTS_A_SECOND = 600
_BURST_S = 1.0
_AT_ONCE = 32  # accepted before other tasks run
_RETRY_S = 0.1
# Descriptors that are kept free for files, models and libraries.
RESERVED_FILES = 192
FEWEST = 16  # connections; with fewer, one browser could fill the server
_NOTHING_LEFT = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Acceptor:
    """Replaces asyncio's server, which logs a traceback for each connection that it cannot accept
    and tries again at once. Clients that have to wait stay in the system's queue."""

    def __init__(
        self,
        listener: socket.socket,
        make_protocol: Callable[[], asyncio.Protocol],
        connections: Connections,
    ) -> None:
        listener.setblocking(False)
        self._listener = listener
        self._make_protocol = make_protocol
        self._connections = connections
        self._rate = Rate(ACCEPTS_A_SECOND, _BURST_S)
        self._opening: set[asyncio.Task[None]] = set()
        self._task = asyncio.get_running_loop().create_task(self._accept_all())

    def close(self) -> None:
        self._task.cancel()

    async def wait_closed(self) -> None:
        with suppress(asyncio.CancelledError):
            await self._task

    async def _accept_all(self) -> None:
        loop = asyncio.get_running_loop()
        accepted = 0
        while True:
            try:
                connection, _ = await loop.sock_accept(self._listener)
            except OSError as error:
                if error.errno in _NOTHING_LEFT:
                    log.warning("a connection cannot be accepted: %s", error.strerror)
                    self._connections.free_some(_AT_ONCE)
                await asyncio.sleep(_RETRY_S)
                continue
            task = loop.create_task(self._open(connection))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)
            accepted += 1
            self._rate.count("")
            if wait_s := self._rate.wait(""):
                await asyncio.sleep(wait_s)
            elif accepted % _AT_ONCE == 0:
                await asyncio.sleep(0)

    async def _open(self, connection: socket.socket) -> None:
        with suppress(OSError):  # the client left
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(self._make_protocol, connection)
        except OSError:
            connection.close()


class GuardedServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, connections: Connections) -> None:
        super().__init__(config)
        self._connections = connections

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        config: Any = self.config

        def make_protocol() -> asyncio.Protocol:
            protocol: asyncio.Protocol = config.http_protocol_class(
                config=config, server_state=self.server_state, app_state=self.lifespan.state
            )
            return protocol

        acceptors: Any = [
            Acceptor(listener, make_protocol, self._connections) for listener in sockets or ()
        ]
        self.servers = acceptors


def guarded_server(config: uvicorn.Config, limits: Limits, access: Access) -> GuardedServer:
    """A server with guarded protocols. The limit on open files bounds its connections."""
    most = limits.connections
    allowed = min(most, _files_allowed(most + RESERVED_FILES) - RESERVED_FILES)
    if allowed < min(most, FEWEST):
        raise BadInput(
            f"this process may open {allowed + RESERVED_FILES} files, and the server needs "
            f"{RESERVED_FILES + FEWEST} or more; raise the limit: ulimit -n {RESERVED_FILES + most}"
        )
    if allowed < most:
        log.warning(
            "at most %d connections: this process may open few files; raise ulimit -n", allowed
        )
    is_shared = lru_cache(partial(_is_in, [ip_network(text) for text in access.trusted_networks]))
    connections = Connections(allowed, limits.connections_per_client, is_shared)
    config.http, config.ws = guarded_protocols(connections, access.request_timeout)
    return GuardedServer(config, connections)


def _files_allowed(wanted: int) -> int:
    """Raises the limit of this process if it can."""
    if sys.platform == "win32":
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _is_in(networks: Sequence[Any], client: str) -> bool:
    try:
        return any(ip_network(client).overlaps(known) for known in networks)
    except ValueError:  # a client without an address
        return False
