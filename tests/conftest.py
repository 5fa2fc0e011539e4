"""Shared by all tests: where the data lies, and a command line to talk to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from chaosops.cli import main

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores: a model that spins on all of them would starve the others.
    os.environ.setdefault("CHAOSOPS_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def data() -> Path:
    return Path(__file__).parent / "data"


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run a command in this process, as a shell would see it."""

    def run(*words: str) -> Outcome:
        code = main(words)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run
