"""Phoenix, a server for traces, in an environment of its own: its packages have 700 MB.

It is installed on first use and kept beside the packages of the tests.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

VERSION = "20.26.1"
LATEST = "2026-11-17T00:00:00Z"  # no package of later days: a new one could break this version
FOLDER = Path(sys.prefix) / "phoenix"
INSTALL_S, START_S = 90, 90
# Its gRPC port would be open to other machines.
LAUNCH = """
import sys
from phoenix.server import grpc_server, main
async def stay_closed(server):
    pass
grpc_server.GrpcServer.__aenter__ = stay_closed
sys.argv = ["phoenix", "serve"]
main.main()
"""
SETTINGS = {
    "PHOENIX_HOST": "127.0.0.1",
    "PHOENIX_SQL_DATABASE_URL": "sqlite:///:memory:",
    "PHOENIX_TELEMETRY_ENABLED": "false",
    "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
    "PHOENIX_DISABLE_AGENT_ASSISTANT": "true",
}


class NoPhoenix(Exception):
    """Why this machine has none."""


def install() -> Path:
    """The interpreter of its environment."""
    python, ready = FOLDER / "bin/python", FOLDER / f".ready-{VERSION}"
    if ready.exists():
        return python
    try:
        venv.create(FOLDER, with_pip=True, clear=True)
        # uv takes a third of pip's time.
        for words in (
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv==0.13.7"],
            [
                *("-m", "uv", "pip", "install", "--quiet", "--no-cache"),
                *("--exclude-newer", LATEST, f"arize-phoenix=={VERSION}"),
            ],
        ):
            told = subprocess.run(
                [str(python), *words],
                capture_output=True,
                text=True,
                timeout=INSTALL_S,
                env={**os.environ, "VIRTUAL_ENV": str(FOLDER)},
            )
            if told.returncode:
                lines = told.stderr.strip().splitlines() or ["no message"]
                raise NoPhoenix(f"Phoenix could not be installed: {lines[-1]}")
    except (OSError, subprocess.SubprocessError) as error:
        raise NoPhoenix(f"Phoenix could not be installed: {error}") from None
    ready.touch()
    return python


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Its address, on loopback."""
    python, port = install(), _free_port()
    url = f"http://127.0.0.1:{port}"
    own = {"PHOENIX_WORKING_DIR": str(folder), "PHOENIX_PORT": str(port)}
    log = folder / "phoenix.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [str(python), "-c", LAUNCH],
            stdout=file,
            stderr=file,
            env={**_without_phoenix(os.environ), **SETTINGS, **own},
        )
    try:
        deadline = time.monotonic() + START_S
        while not _answers(url):
            if process.poll() is not None:
                raise AssertionError(f"Phoenix ended: {log.read_text()[-2000:]}")
            if time.monotonic() > deadline:
                raise NoPhoenix(f"Phoenix did not start in {START_S} s on this machine")
            time.sleep(0.5)
        yield url
    finally:
        process.kill()
        process.wait()


def get(url: str) -> bytes:
    with build_opener(ProxyHandler({})).open(url, timeout=10) as answer:
        content: bytes = answer.read()
    return content


def _answers(url: str) -> bool:
    try:
        get(f"{url}/healthz")
    except OSError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _without_phoenix(environment: Mapping[str, str]) -> dict[str, str]:
    """A developer may have settings of their own. PYTHONPATH is for the tests' interpreter."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith("PHOENIX_") and name != "PYTHONPATH"
    }
