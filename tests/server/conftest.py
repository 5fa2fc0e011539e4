"""A real server in a process of its own, on loopback."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import pytest

import chaosops.client.openenv_core  # noqa: F401  before any test imports OpenEnv with Gradio
from tests.server.evaluating import PrivateSplit, private_split
from tests.server.forking import Forked, forked


class Running(NamedTuple):
    url: str
    process: Forked

    @property
    def socket(self) -> str:
        return f"ws{self.url.removeprefix('http')}"


StartServer = Callable[..., Running]


@contextmanager
def running_server(*options: str) -> Iterator[Running]:
    """It must have said nothing when it ends: a traceback would be on stderr."""
    with tempfile.TemporaryFile("w+") as errors:
        with logging_server(errors, *options) as running:
            yield running
        errors.seek(0)
        assert errors.read() == ""


@contextmanager
def logging_server(errors: IO[str], *options: str, files: int | None = None) -> Iterator[Running]:
    """A server that must end when told to, and may log something."""
    reading, writing = os.pipe()
    words = ("serve", "--port", "0", "--no-web", *options)
    with open(reading, encoding="utf-8") as out:
        process = forked(*words, stdout=writing, stderr=errors, files=files)
        os.close(writing)
        try:
            line = out.readline()
            assert "chaosops serves on http://" in line
            yield Running(line.split()[-1], process)
        finally:
            process.terminate()
            process.wait()
            process.close()


@pytest.fixture(scope="session")
def served() -> Iterator[Running]:
    with running_server("--idle-timeout", "60") as running:
        yield running


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """Servers with options of their own."""
    with ExitStack() as stack:
        yield lambda *options: stack.enter_context(running_server(*options))


class Evaluating(NamedTuple):
    split: PrivateSplit
    served: Running


@pytest.fixture(scope="session")
def evaluating(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evaluating]:
    """One server for all tests that leave it running; it finds their submissions by itself."""
    split = private_split(tmp_path_factory.mktemp("private"))
    with running_server("--evaluation", *split.options, "--idle-timeout", "60") as served:
        yield Evaluating(split, served)


@pytest.fixture
def split(tmp_path: Path) -> PrivateSplit:
    """For tests that stop their server, or need none."""
    return private_split(tmp_path)
