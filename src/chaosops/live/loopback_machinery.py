"""The machinery of a company on loopback: values, replicas and remedies, in the control process."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from chaosops.live.collector import Collector
from chaosops.live.faults import remedies, sizes_in
from chaosops.live.machinery import Restored
from chaosops.live.objectives import objectives
from chaosops.live.plan import CompanyPlan
from chaosops.live.platform import Observation
from chaosops.live.replica import Surroundings
from chaosops.live.reports import INTERVAL_S, seal, unseal
from chaosops.live.topology import MOST_REPLICAS, SPECS

_RESTARTING = ("restart", "rollback")
_DRAIN_S = 1.0  # how long a replica that is not needed any more finishes its requests
_ACK_S = 0.3
_PATIENCE_S = 5.0
_START_S = 20.0
_AGAIN_S = 0.2  # a replica that always fails must not keep the machine busy
Place = tuple[str, int]


class Process:
    """One replica as the control process knows it."""

    def __init__(self, pid: int, port: int) -> None:
        self.pid = pid
        self.port = port
        self.address: Any = None
        self.version = 0
        self.reads: Sequence[str] = ()
        self.heard = asyncio.Event()
        self.ended = asyncio.Event()
        self.wanted = True


class LoopbackMachinery(asyncio.DatagramProtocol):
    def __init__(self, plan: CompanyPlan, around: Surroundings) -> None:
        self.plan = plan
        self.around = around
        sizes = sizes_in(plan)
        self.usual = {(one.service, one.setting): one.usual for one in plan.settings} | {
            (size.service, size.setting): size.usual
            for found in sizes.values()
            for size in found.values()
        }
        self.values = dict(self.usual)
        self.collector = Collector(objectives(sizes))
        self.processes: dict[Place, Process] = {}
        self.counts = {name: spec.replicas for name, spec in SPECS.items()}
        self._replacing = {name: asyncio.Lock() for name in SPECS}
        """Processes of a service are started or ended by one at a time."""
        self._version = 1
        self._names = 1
        self._mends: list[tuple[int, str, str]] = []
        self._changed = asyncio.Event()
        self._starting: dict[Place, asyncio.Future[Process]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    # The lines to the parent and to all processes.

    async def connect(self, parent: socket.socket, datagrams: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        reader, self._to_parent = await asyncio.open_connection(sock=parent)
        await loop.create_datagram_endpoint(lambda: self, sock=datagrams)
        self.spawn(self._hear_parent(reader))
        self.spawn(self._tick())

    def spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def tell_parent(self, what: Mapping[str, Any]) -> None:
        self._to_parent.write(json.dumps(what).encode() + b"\n")

    async def _hear_parent(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            event = json.loads(line)
            if event["event"] == "started":
                place = event["service"], event["slot"]
                process = self.processes[place] = Process(event["pid"], event["port"])
                if future := self._starting.pop(place, None):
                    future.set_result(process)
            else:
                self._note_end(event["pid"], event["status"])

    def _note_end(self, pid: int, status: int) -> None:
        for (service, slot), process in list(self.processes.items()):
            if process.pid == pid:
                process.ended.set()
                self.collector.forget(service, slot)
                if process.wanted:  # it was killed: a supervisor starts it again
                    self.spawn(self._start_again((service, slot)))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: Any) -> None:
        report = unseal(self.around.key, data)
        if report is None:  # of somebody else on this machine
            return
        place = report["who"][0], report["who"][1]
        process = self.processes.get(place)
        if process is None or process.pid != report["pid"]:
            return
        self.collector.add(report, asyncio.get_running_loop().time())
        process.address, process.version = addr, report["version"]
        process.reads = report["reads"]
        if process.version < self._version:
            self._transport.sendto(self._state(), addr)
        else:
            process.heard.set()
            self._changed.set()

    def _state(self) -> bytes:
        ports: dict[str, list[int]] = {}
        for service, slot in sorted(self.processes):
            if slot < self.counts.get(service, 1):
                ports.setdefault(service, []).append(self.processes[service, slot].port)
        content = {
            "version": self._version,
            "values": {f"{service}.{name}": v for (service, name), v in self.values.items()},
            "counts": self.counts,
            "names": self._names,
            "ports": ports,
            "mends": self._mends[-10:],
        }
        return seal(self.around.key, content)

    async def publish(self, setting: str = "") -> None:
        """Send the state, and wait until it is known: where a setting is read, or everywhere. The
        other processes get it when they report next."""
        self._version += 1
        wanted = self._version
        concerned = [one for one in self.processes.values() if not setting or setting in one.reads]
        until = asyncio.get_running_loop().time() + _PATIENCE_S
        while asyncio.get_running_loop().time() < until:
            late = [one for one in concerned if one.wanted and one.version < wanted]
            late = [one for one in late if one.address is not None and not one.ended.is_set()]
            if not late:
                return
            state = self._state()
            for one in late:
                self._transport.sendto(state, one.address)
            self._changed.clear()
            try:
                async with asyncio.timeout(_ACK_S):
                    while any(one.version < wanted and not one.ended.is_set() for one in late):
                        self._changed.clear()
                        await self._changed.wait()
            except TimeoutError:
                continue

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL_S)
            self.collector.tick(asyncio.get_running_loop().time())

    # Replicas.

    async def start(self, places: Iterable[Place]) -> None:
        """Start processes, and wait until each has been heard of."""
        loop = asyncio.get_running_loop()
        futures = []
        places = list(places)
        for service, slot in places:
            future = self._starting[service, slot] = loop.create_future()
            self.tell_parent({"do": "spawn", "service": service, "slot": slot})
            futures.append(future)
        started = await asyncio.gather(*futures)
        for place, process in zip(places, started, strict=True):
            if process.port or len(started) == 1:
                async with asyncio.timeout(_START_S):
                    # One that ends at once is started again, as another process.
                    while not self.processes[place].heard.is_set():
                        await asyncio.sleep(0.02)
        await self.publish()

    async def _start_again(self, place: Place) -> None:
        await asyncio.sleep(_AGAIN_S)
        if self.processes[place].wanted:
            await self.start([place])

    async def _stop(self, places: Sequence[Place]) -> None:
        stopped = [self.processes[place] for place in places if place in self.processes]
        for process in stopped:
            process.wanted = False
            self.tell_parent({"do": "signal", "pid": process.pid, "signal": int(signal.SIGTERM)})
        for process in stopped:
            try:
                async with asyncio.timeout(1.5):
                    await process.ended.wait()
            except TimeoutError:
                kill = {"do": "signal", "pid": process.pid, "signal": int(signal.SIGKILL)}
                self.tell_parent(kill)
                await process.ended.wait()

    async def restart(self, service: str) -> None:
        """Replace all replicas, one half after the other."""
        async with self._replacing[service]:
            slots = range(self.counts[service])
            for half in (slots[::2], slots[1::2]):
                places = [(service, slot) for slot in half]
                if places:
                    await self._stop(places)
                    await self.start(places)

    async def scale(self, service: str, replicas: int) -> None:
        wanted = max(1, min(MOST_REPLICAS, replicas))
        async with self._replacing[service]:
            before = self.counts[service]
            # One that is about to leave may still be there, and stays.
            places = [(service, slot) for slot in range(before, wanted)]
            if missing := [place for place in places if place not in self.processes]:
                await self.start(missing)
            self.counts[service] = wanted
            self._names += 1
            await self.publish()
        if wanted < before:
            self.spawn(self._drain([(service, slot) for slot in range(wanted, before)]))

    async def _drain(self, places: list[Place]) -> None:
        await asyncio.sleep(_DRAIN_S)
        async with self._replacing[places[0][0]]:
            unneeded = [(name, slot) for name, slot in places if slot >= self.counts[name]]
            await self._stop(unneeded)
            for place in unneeded:
                self.processes.pop(place, None)

    # What the control plane asks for.

    async def set(self, service: str, setting: str, value: int) -> None:
        self.values[service, setting] = value
        # In the books of the plot a service may have more replicas than it really has.
        if setting == "replicas" and self.usual.get((service, setting)) == SPECS[service].replicas:
            await self.scale(service, value)
        else:
            await self.publish(f"{service}.{setting}")

    async def remedy(self, verb: str, service: str, replicas: int = 0) -> Sequence[Restored]:
        if verb == "scale":
            self.values[service, "replicas"] = replicas
            await self.scale(service, replicas)
            return [Restored(service, "replicas", replicas)]
        verbs = remedies()
        restored = [
            Restored(name, setting, usual)
            for (name, setting), usual in self.usual.items()
            if verbs.get(setting) == verb and (verb == "escalate" or name == service)
        ]
        for name, setting, usual in restored:
            self.values[name, setting] = usual
        number = self._mends[-1][0] + 1 if self._mends else 1
        struck = sorted({one.service for one in restored}) if verb == "escalate" else [service]
        self._mends += [(number + i, verb, name) for i, name in enumerate(struck)]
        await self.publish()
        if verb in _RESTARTING:
            await self.restart(service)
        return restored

    async def observe(self, minute: int) -> Observation:
        now = asyncio.get_running_loop().time()
        collector = self.collector
        collector.minute = minute
        return Observation(
            collector.readings(self.counts),
            collector.alerts(now),
            collector.logs(),
            (),
            collector.served,
            collector.lost,
            *collector.seconds(now),
            collector.is_blind(now),
        )

    async def close(self) -> None:
        self.tell_parent({"do": "end"})

    async def until_calm(self) -> None:
        """Wait until users are served."""
        async with asyncio.timeout(20):
            while self.collector.served - self.collector.lost < 10:
                await asyncio.sleep(0.05)
        self.collector.note_calm()
