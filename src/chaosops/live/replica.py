"""One replica of a service: a process that serves requests, with the parts of all faults that can
strike here."""

from __future__ import annotations

import asyncio
import signal
import ssl
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from socket import socket
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from chaosops.live.certificates import Authority
from chaosops.live.client import CALLER, HEAVY, TICKET, CallFailed, Client
from chaosops.live.faults import Part, load_faults
from chaosops.live.plan import SettingPlan
from chaosops.live.reports import Reporter, resident_mb
from chaosops.live.topology import SPECS, TLS_SERVICES

if TYPE_CHECKING:
    from aiohttp import web
    from asyncpg import Connection

_GRACE_S = 0.8  # how long a replica that is asked to end finishes its requests
_BAD = 500


class Call(NamedTuple):
    """A request as it arrives."""

    path: str
    ticket: int
    """Requests of a kind are numbered by the users."""
    heavy: bool
    caller: str
    body: bytes


class Failed(Exception):
    """A request that cannot be served, and why."""


class Surroundings(NamedTuple):
    """What every process of a company is given."""

    folder: Path
    key: bytes
    control_port: int
    resolver_port: int
    sizes: Mapping[str, Mapping[str, SettingPlan]]
    database: Mapping[str, Any]
    authority: Authority


Handler = Callable[[Call], Awaitable[bytes]]


class Replica:
    def __init__(self, service: str, slot: int, around: Surroundings) -> None:
        self.service = service
        self.slot = slot
        self.surroundings = around
        spec = SPECS.get(service)
        self.usual_count = spec.replicas if spec else 1
        self.work_s = spec.work_ms / 1000 if spec else 0.0
        self.busy_s = 0.0
        self.state: dict[str, Any] = {"values": {}, "counts": {}, "names": 0, "mends": []}
        self.reporter = Reporter((service, slot), around.control_port, around.key, self._on_state)
        self.client = Client(service, self.reporter, around.resolver_port)
        self.handler: Handler | None = None
        self.shared: dict[str, Any] = {}
        """Objects of the service that parts work on, such as the cache."""
        self.parts: list[Part] = []
        self._mended: int | None = None  # the last remedy; those before its birth are not its own
        self._background: set[asyncio.Task[Any]] = set()
        self._since = monotonic()
        self._last_lines: dict[str, float] = {}

    # What parts use.

    def value(self, service: str, setting: str, usual: int) -> int:
        return int(self.state["values"].get(f"{service}.{setting}", usual))

    @property
    def count(self) -> int:
        """How many replicas the service has now."""
        return int(self.state["counts"].get(self.service, self.usual_count))

    def share(self, value: int) -> int:
        """This replica's share of a value that counts for the usual replicas together. Replicas
        that were added have as much as the last of these."""
        count = self.usual_count
        slot = min(self.slot, count - 1)
        return value * (slot + 1) // count - value * slot // count

    def log(self, level: str, text: str) -> None:
        """Write a line. Lines that differ in numbers alone are written twice a second at most."""
        wording = "".join("N" if letter.isdigit() else letter for letter in text)
        now = monotonic()
        if now - self._last_lines.get(wording, 0.0) >= 0.5:
            self._last_lines[wording] = now
            self.reporter.log(level, text)

    def failed(self, why: str) -> Failed:
        return Failed(why)

    def spawn(self, work: Any) -> None:
        """Run something in the background."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def open_connection(self) -> Connection:
        """A new connection to PostgreSQL."""
        import asyncpg

        return await asyncpg.connect(**self.surroundings.database)

    @property
    def folder(self) -> Path:
        """Where the service keeps its files."""
        path = self.surroundings.folder / "data" / self.service
        path.mkdir(parents=True, exist_ok=True)
        return path

    # What makes it run.

    async def prepare(self) -> None:
        from chaosops.live.services import handler_of

        self.reporter.gauges |= {"memory_mb": resident_mb, "busy": self._utilisation}
        authority = self.surroundings.authority.folder / "authority.pem"
        self.client.trust = ssl.create_default_context(cafile=str(authority))
        await self.client.start()
        self.handler = await handler_of(self)
        found = [
            part
            for name, fault in load_faults().items()
            for part in fault.parts(self, self.surroundings.sizes.get(name, {}))
        ]
        self.parts = sorted(found, key=lambda part: part.layer)
        sizes = [part.size for part in self.parts]
        self.reporter.reads = sorted({f"{size.service}.{size.setting}" for size in sizes})
        await self.reporter.start()
        for part in self.parts:
            self.spawn(part.run())
        self.spawn(self.reporter.run())

    async def serve(self, call: Call) -> bytes:
        """One request through all parts, to the handler."""
        assert self.handler is not None
        proceed: Callable[[], Awaitable[Any]] = partial(self._work, call)
        for part in reversed(self.parts):
            proceed = partial(part.around, call, proceed)
        answer: bytes = await proceed()
        return answer

    async def _work(self, call: Call) -> bytes:
        assert self.handler is not None
        if self.work_s:
            self.busy_s += self.work_s
            await asyncio.sleep(self.work_s)
        return await self.handler(call)

    def _utilisation(self) -> float:
        now = monotonic()
        share = self.busy_s / max(0.01, now - self._since)
        self.busy_s, self._since = 0.0, now
        return round(max([share, *(part.busy() for part in self.parts)]), 3)

    def _on_state(self, state: dict[str, Any]) -> None:
        self.state = state
        self.client.names = state["names"]
        for part in self.parts:
            part.changed()
        newest = max((number for number, *_ in state["mends"]), default=0)
        known, self._mended = newest if self._mended is None else self._mended, newest
        for number, verb, service in state["mends"]:
            if number > known and service == self.service:
                for part in self.parts:
                    self.spawn(part.mend(verb))


async def run_replica(replica: Replica, listening: socket) -> None:
    """Serve until SIGTERM."""
    from aiohttp import web

    await replica.prepare()
    serving: set[object] = set()  # connections

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/metrics":
            return web.Response(text=_metrics(replica))
        headers = request.headers
        body = await request.read() if request.can_read_body else b""
        heavy, caller = HEAVY in headers, headers.get(CALLER, "")
        call = Call(request.path[1:], int(headers.get(TICKET, "0")), heavy, caller, body)
        serving.add(request.protocol)
        try:
            return web.Response(body=await replica.serve(call))
        except (Failed, CallFailed) as error:
            return web.Response(status=_BAD, text=str(error))
        finally:
            serving.discard(request.protocol)

    secure = server_context(replica.surroundings.folder, replica.service)
    replica.shared["tls"] = secure
    protocol = web.Server(answer, access_log=None)
    replica.shared["idle"] = lambda: set(protocol.connections) - serving
    loop = asyncio.get_running_loop()
    server = await loop.create_server(protocol, sock=listening, ssl=secure, backlog=256)
    asked = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, asked.set)
    await asked.wait()
    server.close()
    until = loop.time() + _GRACE_S
    while serving and loop.time() < until:
        await asyncio.sleep(0.01)


def server_context(folder: Path, service: str) -> ssl.SSLContext | None:
    if service not in TLS_SERVICES:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(str(folder / "certificates" / f"{service}.pem"))
    return context


def _metrics(replica: Replica) -> str:
    """The caller's side of its calls, and its settings, as Prometheus text."""
    lines = ["# TYPE chaosops_setting gauge"]
    for name, value in sorted(replica.state["values"].items()):
        service, _, setting = name.partition(".")
        if service == replica.service:
            lines.append(f'chaosops_setting{{setting="{setting}"}} {value}')
    lines.append("# TYPE chaosops_memory_bytes gauge")
    lines.append(f"chaosops_memory_bytes {resident_mb() * 1e6:.0f}")
    lines.append("# TYPE chaosops_calls_total counter")
    lines.append("# TYPE chaosops_call_errors_total counter")
    for callee, tally in replica.reporter.calls.items():
        lines.append(f'chaosops_calls_total{{callee="{callee}"}} {tally.total}')
        lines.append(f'chaosops_call_errors_total{{callee="{callee}"}} {tally.total_errors}')
    return "\n".join(lines) + "\n"
