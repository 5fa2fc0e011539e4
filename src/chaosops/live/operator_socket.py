"""A socket in the run folder that drives the machinery without a control plane.

Lifecycle tests of single faults use it. A company that plays an incident is started without it,
because a change through it leaves no record.
"""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaosops.live.platform import VoidRun

if TYPE_CHECKING:
    from chaosops.live.loopback_machinery import LoopbackMachinery

FILE = "machinery.sock"


async def serve(machinery: LoopbackMachinery, path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(json.dumps(await _done(machinery, json.loads(line))).encode() + b"\n")
            await writer.drain()
        writer.close()

    await asyncio.start_unix_server(answer, path)
    path.chmod(0o600)


async def _done(machinery: LoopbackMachinery, asked: dict[str, Any]) -> Any:
    match asked["do"]:
        case "set":
            await machinery.set(asked["service"], asked["setting"], asked["value"])
            return {}
        case "remedy":
            given = asked["verb"], asked["service"], asked.get("replicas", 0)
            return {"restored": [list(one) for one in await machinery.remedy(*given)]}
        case _:
            return _status(machinery)


def _status(machinery: LoopbackMachinery) -> dict[str, Any]:
    collector = machinery.collector
    now = asyncio.get_running_loop().time()
    seconds, void = collector.seconds(now)
    return {
        "health": {name: int(found) for name, found in collector.health.items()},
        "roots": collector.root(),
        "readings": [
            [one.service, int(one.health), *one[2:]] for one in collector.readings(machinery.counts)
        ],
        "alerts": [list(one) for one in collector.alerts(now)],
        "logs": [list(one) for one in collector.logs()],
        "served": collector.served,
        "lost": collector.lost,
        "seconds": seconds,
        "void": void,
        "objectives": collector.objectives,
        "ports": {f"{name}-{slot}": one.port for (name, slot), one in machinery.processes.items()},
        "pids": {f"{name}-{slot}": one.pid for (name, slot), one in machinery.processes.items()},
    }


class Operator:
    """The client's side of the socket. Raises ``VoidRun`` where the company has ended."""

    def __init__(self, folder: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(str(folder / FILE))
        except (ConnectionError, FileNotFoundError):
            self._socket.close()
            raise _ended() from None
        self._file = self._socket.makefile("rb")

    def ask(self, do: str, **more: Any) -> Any:
        try:
            self._socket.sendall(json.dumps({"do": do, **more}).encode() + b"\n")
            line = self._file.readline()
        except ConnectionError:
            raise _ended() from None
        if not line.endswith(b"\n"):
            raise _ended()
        return json.loads(line)

    def close(self) -> None:
        self._file.close()
        self._socket.close()


def _ended() -> VoidRun:
    return VoidRun("the company ended before it answered; run the command again")
