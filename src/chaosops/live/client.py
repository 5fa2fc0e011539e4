"""Calls between services: lookup, balancing, deadlines, TLS, and what the caller notes of them."""

from __future__ import annotations

import asyncio
import itertools
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from chaosops.live.topology import RESOLVER, TLS_SERVICES

if TYPE_CHECKING:
    import aiohttp

    from chaosops.live.reports import Reporter

TICKET, HEAVY, CALLER = "x-ticket", "x-heavy", "x-caller"
CALL_LIMIT_S = 12.0
LOOKUP_LIMIT_S = 0.6
_TTL_S = 2.0
_IMPATIENT_S = 0.08  # after this a heavy call is repeated, if there is a budget for it
_FAILED = 500


class CallFailed(Exception):
    def __init__(self, service: str, why: str) -> None:
        super().__init__(f"{service}: {why}")
        self.service = service
        self.why = why


class NoAddress(CallFailed):
    """The callee's address could not be found. It is not to blame."""


class Known(NamedTuple):
    ports: tuple[int, ...]
    until: float
    names: int


class Client:
    """The calls of one process. Balancing goes by the number of the request: all callers give
    consecutive numbers to consecutive replicas, so that each gets its turn at even intervals."""

    def __init__(self, service: str, reporter: Reporter, resolver_port: int) -> None:
        self.service = service
        self.reporter = reporter
        self.resolver_port = resolver_port
        self.ttl_s = _TTL_S
        self.serves_stale = True
        """An address that is out of date is used while the resolver does not answer."""
        self.names = 0  # grows when replicas come or go
        self.trust: ssl.SSLContext | None = None
        self.repeats: dict[str, Callable[[], int]] = {}
        """How often a heavy call may be repeated while it waits for its answer, by callee."""
        self._known: dict[str, Known] = {}
        self._asking: dict[str, asyncio.Task[tuple[int, ...]]] = {}
        self._silent_until: dict[str, float] = {}
        self._numbers = itertools.count()
        self._session: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        import aiohttp

        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=15)
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=CALL_LIMIT_S),
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def call(
        self, service: str, path: str, ticket: int, heavy: bool = False, body: bytes = b""
    ) -> bytes:
        """Call a service, and again at the next replica if one does not take the connection."""
        import aiohttp

        ports = await self.lookup(service)
        tally = self.reporter.tally(service)
        loop = asyncio.get_running_loop()
        number, since = next(self._numbers), loop.time()
        if not heavy:
            tally.pending[number] = since
        failed = True
        request = service, path, ticket, heavy, body
        try:
            try:
                status, answer = await self._send(ports[ticket % len(ports)], *request)
            except (aiohttp.ClientConnectionError, ConnectionError):
                status, answer = await self._request(ports[(ticket + 1) % len(ports)], *request)
            failed = status >= _FAILED
        except TimeoutError:
            self.reporter.log("WARN", f"{service} timed out, retried")
            raise CallFailed(service, "timed out") from None
        except (aiohttp.ClientError, OSError) as error:
            self.reporter.log("WARN", f"call to {service} failed")
            raise CallFailed(service, str(error) or type(error).__name__) from None
        finally:
            tally.note(failed, loop.time() - since, heavy)
            tally.pending.pop(number, None)
        if failed:
            self.reporter.log("WARN", f"call to {service} failed")
            raise CallFailed(service, answer.decode(errors="replace"))
        return answer

    async def _send(
        self, port: int, service: str, path: str, ticket: int, heavy: bool, body: bytes
    ) -> tuple[int, bytes]:
        """A request, and its repeats if it is a heavy one that is not answered soon."""
        budget = self.repeats.get(service)
        if not heavy or budget is None:
            return await self._request(port, service, path, ticket, heavy, body)
        loop = asyncio.get_running_loop()
        first = loop.create_task(self._request(port, service, path, ticket, heavy, body))
        repeats: list[asyncio.Task[tuple[int, bytes]]] = []
        try:
            await asyncio.wait([first], timeout=_IMPATIENT_S)
            if not first.done():
                for _ in range(budget()):
                    again = self._request(port, service, path, ticket, heavy, body)
                    repeats.append(loop.create_task(again))
            answer = await first
            await asyncio.gather(*repeats, return_exceptions=True)
            return answer
        finally:
            for task in (first, *repeats):
                task.cancel()

    async def _request(
        self, port: int, service: str, path: str, ticket: int, heavy: bool, body: bytes
    ) -> tuple[int, bytes]:
        assert self._session is not None
        headers = {TICKET: str(ticket), CALLER: self.service}
        if heavy:
            headers[HEAVY] = "1"
        secure: dict[str, Any] = {}
        if service in TLS_SERVICES and self.trust is not None:
            secure = {"ssl": self.trust, "server_hostname": service}
        url = f"{'https' if secure else 'http'}://127.0.0.1:{port}/{path}"
        method = self._session.post if body else self._session.get
        async with method(url, headers=headers, data=body or None, **secure) as answer:
            return answer.status, await answer.read()

    async def lookup(self, service: str) -> tuple[int, ...]:
        """The ports of a service's replicas. A lookup that fails is not the callee's fault."""
        if service == RESOLVER:
            return (self.resolver_port,)
        known = self._known.get(service)
        now = asyncio.get_running_loop().time()
        if known is not None and now < known.until and known.names == self.names:
            return known.ports
        ports: tuple[int, ...] = ()
        if asking := self._asking.get(service):  # all wait for the same answer
            ports = await asyncio.shield(asking)
        elif now >= self._silent_until.get(service, 0.0):
            ports = await self.refresh(service)
        if ports:
            return ports
        if known is not None and (self.serves_stale or now < known.until):
            return known.ports
        raise NoAddress(service, "no address")

    async def refresh(self, service: str) -> tuple[int, ...]:
        """Look a name up, whether its address is out of date or not."""
        loop = asyncio.get_running_loop()
        asking = self._asking[service] = loop.create_task(self._ask_resolver(service))
        try:
            ports = await asyncio.shield(asking)
        finally:
            if self._asking.get(service) is asking:
                del self._asking[service]
        return ports

    async def _ask_resolver(self, service: str) -> tuple[int, ...]:
        """The resolver is told which replica asks. Where it is silent, calls do not ask again for
        some time."""
        import aiohttp

        loop = asyncio.get_running_loop()
        names, slot = self.names, self.reporter.who[1]
        try:
            async with asyncio.timeout(LOOKUP_LIMIT_S):
                status, answer = await self._request(
                    self.resolver_port, RESOLVER, service, slot, False, b""
                )
            ports = tuple(map(int, answer.split())) if status < _FAILED else ()
        except TimeoutError:
            self._silent_until[service] = loop.time() + self.ttl_s
            return ()
        except (OSError, ValueError, aiohttp.ClientError):
            return ()
        if ports:
            self._known[service] = Known(ports, loop.time() + self.ttl_s, names)
        return ports
