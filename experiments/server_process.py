"""A server in a process of its own, on loopback, and what it uses of the machine."""

from __future__ import annotations

import os
import re
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from websockets.asyncio.client import ClientConnection, connect


class Server(NamedTuple):
    url: str
    process: int


def address_of(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").partition(":")
    return host, int(port)


def raw_request(method: str, path: str, body: bytes, port: int) -> bytes:
    kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{kind}\r\n".encode() + body


async def connect_to(url: str, **options: Any) -> ClientConnection:
    address = f"ws{url.removeprefix('http')}/ws"
    return await connect(address, proxy=None, compression=None, **options)


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def footprint(process: int) -> dict[str, int]:
    """From /proc: memory, threads and open files of the server."""
    status = Path(f"/proc/{process}/status").read_text()
    read = {name: int(re.search(rf"{name}:\s+(\d+)", status)[1]) for name in ("VmRSS", "Threads")}  # type: ignore[index]
    files = len(os.listdir(f"/proc/{process}/fd"))
    return {"rss_kb": read["VmRSS"], "threads": read["Threads"], "open_files": files}


@contextmanager
def started(
    *words: str, log: Path | None = None, open_files: int | None = None
) -> Iterator[Server]:
    """Start a Python program as a server. ``PORT`` in its words becomes a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def limit() -> None:
        if open_files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, open_files))

    command = [sys.executable, *(str(port) if word == "PORT" else word for word in words)]
    with log.open("w") if log else nullcontext() as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=limit
        )
        try:
            _await_port(port, process)
            yield Server(f"http://127.0.0.1:{port}", process.pid)
        finally:
            process.terminate()
            process.wait(20)


def _await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise SystemExit(f"the server ended with code {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("the server did not start within 60 s")
