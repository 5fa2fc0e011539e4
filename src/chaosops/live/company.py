"""Starting and ending a company, from any process."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.live.faults import ADDED_FROM
from chaosops.live.folder import is_held, new_folder, read_facts, remove
from chaosops.live.needs import company_cores, require_live, run_on
from chaosops.live.plan import CompanyPlan
from chaosops.live.platform import VoidRun

_START_S = 30.0
_END_S = 5.0


class Company:
    """A running company. It ends when this object is closed, or when this process ends. Until then
    this process keeps off its core, so that a policy that thinks does not slow it down."""

    def __init__(
        self, folder: Path, process: subprocess.Popen[bytes], other_cores: set[int] | None
    ) -> None:
        self.folder = folder
        self._process = process
        self._ended = ""
        self._cores_before: set[int] = set()
        if other_cores is not None:
            self._cores_before = os.sched_getaffinity(0)
            run_on(other_cores)

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()  # the janitor does the rest
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        if self._cores_before:
            run_on(self._cores_before)
            self._cores_before = set()

    def __enter__(self) -> Company:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def require_running(self) -> None:
        """Raise an error of one line if it has ended by itself."""
        if self._process.poll() is None:
            return
        if self._process.stdout is not None and not self._process.stdout.closed:
            lines = self._process.stdout.read().decode().splitlines()
            told = [json.loads(line) for line in lines if line.startswith("{")]
            self._ended = next((str(one["ended"]) for one in told if "ended" in one), self._ended)
        raise VoidRun(f"the live company has ended: {self._ended or 'it was killed'}")


def start_company(
    plan: CompanyPlan,
    *,
    name: str = "",
    core: int | None = None,
    operator: bool = False,
    detached: bool = False,
) -> Company:
    """Start all processes and wait until users are served. ``detached`` companies stay until
    ``stop_company``. ``operator`` opens a socket that changes settings without a record."""
    require_live()
    cores, others = company_cores(core)
    folder = new_folder(name)
    try:
        given = {"plan": plan.to_wire(), "cores": sorted(cores), "operator": operator}
        (folder / "plan.json").write_text(json.dumps(given), encoding="utf-8")
        (folder / "plan.json").chmod(0o600)
        process = _launch(folder, detached=detached)
    except BaseException:
        remove(folder)
        raise
    try:
        _wait_until_ready(process)
    except BaseException:
        process.kill()
        process.communicate()  # waits, and closes its pipes
        if not is_held(folder):  # its janitor has not removed it
            remove(folder)
        raise
    return Company(folder, process, None if detached else others)


def _launch(folder: Path, *, detached: bool) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "chaosops.live.parent", str(folder), *ADDED_FROM]
    with (folder / "parent.log").open("wb") as log:
        return subprocess.Popen(
            [*command, *(["--stay"] if detached else [])],
            stdin=subprocess.DEVNULL if detached else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )


def _wait_until_ready(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout is not None
    until = time.monotonic() + _START_S
    while time.monotonic() < until:
        if not select.select([process.stdout], [], [], 0.2)[0]:
            continue
        line = process.stdout.readline()
        told: dict[str, Any] = json.loads(line) if line else {"ended": ""}
        if "ready" in told:
            return
        if "error" in told:
            raise BadInput(str(told["error"]))
        reason, words = told["ended"] or "it was killed", told.get("log", "")
        because = f"{reason} ({words})" if words else reason
        raise VoidRun(f"the live company did not start: {because}")
    raise VoidRun(f"the live company did not start within {_START_S:.0f} seconds")


def stop_company(folder: Path) -> None:
    """End a company that was started elsewhere, and wait for it."""
    pid = read_facts(folder).get("pid")
    if is_held(folder) and isinstance(pid, int):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + _END_S
        while is_held(folder) and time.monotonic() < until:
            time.sleep(0.02)
    if is_held(folder):
        raise BadInput(f"the company in {folder} does not end; kill process {pid}")
    if folder.exists():
        remove(folder)
