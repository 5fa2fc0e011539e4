"""A real server in a process of its own, on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import pytest

import chaosops.client.openenv_core  # noqa: F401  before any test imports OpenEnv with Gradio


class Running(NamedTuple):
    url: str
    process: subprocess.Popen[str]

    @property
    def socket(self) -> str:
        return f"ws{self.url.removeprefix('http')}"


StartServer = Callable[..., Running]


@contextmanager
def running_server(*options: str) -> Iterator[Running]:
    """It must end when told to, and must have said nothing: a traceback would be on stderr."""
    process = subprocess.Popen(
        [sys.executable, "-m", "chaosops", "serve", "--port", "0", "--no-web", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert "chaosops serves on http://" in line, process.communicate(timeout=10)
        yield Running(line.split()[-1], process)
    finally:
        process.terminate()
        _, said = process.communicate(timeout=20)
    assert said == ""


@pytest.fixture(scope="session")
def served() -> Iterator[Running]:
    with running_server("--idle-timeout", "60") as running:
        yield running


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """Servers with options of their own."""
    with ExitStack() as stack:
        yield lambda *options: stack.enter_context(running_server(*options))
