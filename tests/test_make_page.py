"""``make page`` serves the web page on loopback and prints its address."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make")


def environment(place: Path) -> Path:
    """What ``make page`` would install is installed already."""
    (place / "bin").symlink_to(Path(sys.executable).parent)
    for name in (".ready", ".page"):
        (place / name).touch()
    return place


def start(place: Path, port: int) -> subprocess.Popen[str]:
    words = ["make", "page", f"VENV={environment(place)}", f"PORT={port}"]
    return subprocess.Popen(
        words,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )


def test_the_address_that_is_printed_is_the_page(tmp_path: Path) -> None:
    with start(tmp_path, 0) as server:
        try:
            assert server.stdout is not None
            said = (re.search(r"http://127\.0\.0\.1:\d+", line) for line in server.stdout)
            address = next(found[0] for found in said if found)
            answer = httpx.get(address, trust_env=False)
            assert answer.status_code == 200
            assert "broke production" in answer.text
        finally:
            os.killpg(server.pid, signal.SIGINT)


def test_a_port_that_is_taken_names_another(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said, _ = start(tmp_path, taken.getsockname()[1]).communicate(timeout=60)
    assert "choose another: make page PORT=" in said
