"""Shared by all tests: where the data lies, and a command line to talk to."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from chaosops.cli import main
from chaosops.live.needs import machine_cores, run_on
from chaosops.world import real_time
from tests.browser import REASON

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores: a model that spins on all of them would starve the others.
    os.environ.setdefault("CHAOSOPS_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")


# Slow files go first: with worksteal a slow test at the end leaves the other workers without
# work. Those that load a model or torch stand together, so that one worker loads them once.
_FIRST = (
    "policies/llm/test_local_model.py",
    "policies/llm/test_trained.py",
    "cli/test_models.py",
    "policies/llm/test_identity.py",
    "policies/llm/test_damaged_files.py",
    "web/test_models.py",
    "training/test_run.py",
    "training/test_learner.py",
    "training/test_kept_turns.py",
    "training/test_processes.py",
    "training/test_trl_run.py",
    "integrations/test_trl.py",
    "cli/test_train.py",
    "policies/llm/test_revisions.py",
    "policies/llm/test_endpoint_real_model.py",
    "test_notebook.py",
    "integrations/test_inspect.py",
    "report/test_phoenix.py",
    "test_release.py",
    "server/test_load.py",
    "server/test_flood.py",
    "evaluation/test_bench.py",
    "evaluation/test_arena_evaluation.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    places = {folder / name: place for place, name in enumerate(_FIRST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.fixture(autouse=True)
def _nothing_stays_permitted() -> Iterator[None]:
    """A command that starts companies permits it, and leaves their core, for the rest of its
    process. Tests have one process for many commands."""
    permitted = real_time.is_permitted()
    yield
    real_time._permitted = permitted
    if sys.platform == "linux":
        run_on(set(machine_cores()))


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
