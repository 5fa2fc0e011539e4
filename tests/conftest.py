"""Shared by all tests: where the data lies, and a command line to talk to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from chaosops.cli import main
from tests.browser import REASON

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores: a model that spins on all of them would starve the others.
    os.environ.setdefault("CHAOSOPS_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")


# Tests that were skipped because this machine has no browser.
_without_browser: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and REASON in str(report.longrepr):
        _without_browser.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A machine that checks for others must not pass with tests left out."""
    if _without_browser and os.environ.get("CI") == "true" and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line of the output."""
    if _without_browser:
        ending = "; with CI=true that is a failure" if os.environ.get("CI") == "true" else ""
        print(f"NOT RUN: {len(_without_browser)} browser tests: {REASON}{ending}")


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def refusal(self) -> str:
        """What a refused command says: one line, and nothing else."""
        assert (self.code, self.out) == (2, ""), self
        assert self.err.count("\n") == 1, self.err
        return self.err


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
