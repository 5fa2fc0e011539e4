"""A company with real agents and a real control plane, whose services are a table of values.

``python -m tests.live.fake_company FOLDER`` reads a plan from standard input and runs it until that
is closed.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from chaosops.core.telemetry import LogLine, ServiceReading
from chaosops.core.vocabulary import Health
from chaosops.live.control.agent import run_agent
from chaosops.live.control.loopback import LoopbackPlatform
from chaosops.live.control.serving import serve
from chaosops.live.machinery import Restored
from chaosops.live.plan import CompanyPlan, PlannedAct, SettingPlan
from chaosops.live.platform import Observation

SETTINGS = (
    SettingPlan("ledger", "pool_exhaustion", "pool_size", 80, 30),
    SettingPlan("ledger", "deadlock", "lock_timeout_s", 40, 35),
    SettingPlan("orders", "capacity_cut", "replicas", 8, 30),
)
FLEET = ("config_manager", "cost_optimizer")


def act(at: int, agent: str, before: int, after: int, **how: object) -> PlannedAct:
    where = {"author": agent, "agent": agent, "service": "ledger", "setting": "pool_size"}
    return PlannedAct(at=at, before=before, after=after, **{**where, "reason": "load 50%", **how})  # type: ignore[arg-type]


def plan(*acts: PlannedAct) -> CompanyPlan:
    return CompanyPlan(1, SETTINGS, FLEET, acts)


class FakeMachinery:
    """What it was told can be read in the logs of an observation."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, int]] = []

    async def set(self, service: str, setting: str, value: int) -> None:
        await asyncio.sleep(0)  # as the real one, it lets others run
        self.told.append((service, setting, value))

    async def remedy(self, verb: str, service: str, replicas: int = 0) -> Sequence[Restored]:
        self.told.append((service, verb, replicas))
        return [Restored(service, "pool_size", 80)] if verb == "rollback" else []

    async def observe(self, minute: int) -> Observation:
        logs = tuple(LogLine(minute, one[0], "INFO", f"{one[1]} {one[2]}") for one in self.told)
        reading = ServiceReading("ledger", Health.DEGRADED, 2, 40, 300, 50, 90, 4.5)
        return Observation((reading,), (), logs, (), 120, 3, 4, 1)

    async def close(self) -> None:
        pass


def start(company: CompanyPlan, folder: Path) -> tuple[LoopbackPlatform, subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.live.fake_company", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(company.to_wire()).encode() + b"\n")
    process.stdin.flush()

    def end() -> None:
        with process:  # closes its pipes and waits
            pass

    if process.stdout.readline() != b"ready\n":
        end()
        raise AssertionError("the company did not start")
    return LoopbackPlatform(folder, end), process


def _fork_agents(company: CompanyPlan) -> dict[str, socket.socket]:
    channels: dict[str, socket.socket] = {}
    for name in company.fleet:
        ours, theirs = socket.socketpair()
        if not os.fork():
            try:
                for other in (ours, *channels.values()):
                    other.close()
                with suppress(BrokenPipeError):
                    run_agent(name, company, theirs)
            finally:
                os._exit(0)
        theirs.close()
        channels[name] = ours
    return channels


async def _run(company: CompanyPlan, folder: Path, channels: dict[str, socket.socket]) -> None:
    server = await serve(FakeMachinery(), company, folder, channels)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await server.close()


def main() -> None:
    company = CompanyPlan.from_wire(json.loads(sys.stdin.readline()))
    asyncio.run(_run(company, Path(sys.argv[1]), _fork_agents(company)))


if __name__ == "__main__":
    main()
