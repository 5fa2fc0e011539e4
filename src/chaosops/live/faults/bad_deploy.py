"""A release that should not have been shipped."""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections.abc import Callable
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple

from chaosops.live.faults import Fault, Part, Proceed
from chaosops.live.plan import SettingPlan

if TYPE_CHECKING:
    from pathlib import Path

    from chaosops.live.replica import Call, Replica

_MINUTE_S = 0.05  # a minute of a canary
_TURN_S = 0.25  # how often a canary is looked at
_LOOK_S = 0.4  # how often a replica looks which build it should run
_STABLE = 0
_NEVER = 10**9  # minutes
_FAILING = 3  # each so many requests

# A build is a real source file. This bug shows some minutes after the build was started. It goes by
# the number of a request: replicas that count for themselves would all fail at the same moments,
# and an alert does not fire for failures that come in bursts.
_SOURCE = '''"""Build {number}."""


def handle(ticket: int, minute: float) -> None:
    assert minute < {first} or ticket % {failing}, "assertion failed in build {number}"
'''


class Build(NamedTuple):
    number: int
    began: float
    handle: Callable[[int, float], None]


def make_build(folder: Path, number: int, first: int) -> Build:
    """Write the source of a build and load it. Its bug shows from minute ``first`` on."""
    path = folder / f"build_{number}.py"
    # Several replicas write the first build at the same time, and others read it.
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(_SOURCE.format(number=number, first=first, failing=_FAILING))
    fresh.replace(path)
    return load_build(folder, number, time())


def load_build(folder: Path, number: int, began: float) -> Build:
    path = folder / f"build_{number}.py"
    content: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), content)
    return Build(number, began, content["handle"])


def passes(build: Build, minute: int) -> bool:
    """What a canary sees of a build in one minute, in as many requests as show any bug."""
    try:
        for ticket in range(_FAILING):
            build.handle(ticket, minute)
    except AssertionError:
        return False
    return True


class BadDeploy(Fault):
    mechanism = "bad_deploy"
    setting = "canary_min"
    harmful = -1
    services = ("orders", "catalog", "mailer")
    usual = 40
    remedy = "rollback"
    logs = (
        "unhandled exception in handler, {n} so far",
        "worker crashed and came back",
        "assertion failed in build {n}",
    )

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        return Releases(replica, size, math.ceil(self.knee(size)))


class Releases(Part):
    """Releases come all the time. Each build has a bug that shows after as many minutes as the
    knee; a canary that lasts longer stops it. A build that a shorter canary lets through is run by
    all replicas, and fails a third of their requests until a rollback."""

    layer = 40

    def __init__(self, replica: Replica, size: SettingPlan, first: int) -> None:
        super().__init__(replica, size)
        self.first = first
        self.folder = replica.folder / "builds"
        self.folder.mkdir(exist_ok=True)
        self.current = self.folder / "current.json"
        if not self.current.exists():
            make_build(self.folder, _STABLE, _NEVER)
            self._ship(_STABLE, time())
        self.build = self._wanted()
        self.crashes = 0
        self.jobs: asyncio.Queue[tuple[int, asyncio.Future[None]]] = asyncio.Queue()

    def _ship(self, number: int, began: float) -> None:
        """Say which build all replicas have to run."""
        fresh = self.current.with_suffix(f".{self.replica.slot}")
        fresh.write_text(json.dumps([number, began]))
        fresh.replace(self.current)

    def _wanted(self) -> Build:
        number, began = json.loads(self.current.read_text())
        return load_build(self.folder, number, began)

    async def run(self) -> None:
        self.replica.spawn(self._supervise())
        if self.replica.slot == 0:
            self.replica.spawn(self._release())
        seen = 0
        while True:
            if (changed := self.current.stat().st_mtime_ns) != seen:
                seen = changed
                self.build = self._wanted()
            await asyncio.sleep(_LOOK_S)

    async def _release(self) -> None:
        known = (path.stem.rpartition("_")[2] for path in self.folder.glob("build_*.py"))
        number = max(map(int, known))
        while True:
            await asyncio.sleep(_LOOK_S)
            if self._wanted().number != _STABLE:
                continue  # nobody releases during an incident
            number += 1
            build = make_build(self.folder, number, self.first)
            if await self._canary(build):
                self._ship(number, build.began)
            else:
                (self.folder / f"build_{number}.py").unlink()

    async def _canary(self, build: Build) -> bool:
        """Try a build for canary_min minutes. A bug that shows stops the release."""
        minute = 0
        while True:
            for _ in range(round(_TURN_S / _MINUTE_S)):
                if minute >= self.value:
                    return True
                minute += 1
                if not passes(build, minute):
                    return False
            await asyncio.sleep(_TURN_S)

    async def mend(self, verb: str) -> None:
        if verb == FAULT.remedy:
            self._ship(_STABLE, time())

    async def around(self, call: Call, proceed: Proceed) -> Any:
        job: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.jobs.put_nowait((call.ticket, job))
        try:
            await job
        except AssertionError as error:
            self.crashes += 1
            line = f"unhandled exception in handler, {self.crashes} so far"
            self.replica.log("ERROR", line)
            self.replica.log("ERROR", str(error))
            raise self.replica.failed(line) from None
        return await proceed()

    async def _supervise(self) -> None:
        while True:
            await self._work()
            self.replica.log("ERROR", "worker crashed and came back")

    async def _work(self) -> None:
        """Handle requests with the present build, until one fails: that ends the worker."""
        while True:
            ticket, job = await self.jobs.get()
            try:
                self.build.handle(ticket, (time() - self.build.began) / _MINUTE_S)
            except AssertionError as error:
                job.set_exception(error)
                return
            job.set_result(None)


FAULT = BadDeploy()
