"""Starts the control plane in the process that has the machinery."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path

from chaosops.core.errors import BadInput
from chaosops.live.control.director import Director
from chaosops.live.control.keys import hide_memory
from chaosops.live.control.log import Log
from chaosops.live.control.plane import Plane
from chaosops.live.control.server import Server
from chaosops.live.machinery import Machinery
from chaosops.live.plan import CompanyPlan
from chaosops.live.platform import HUMAN, INFRASTRUCTURE

SOCKET_FILE = "control.sock"
LOG_FILE = "control.jsonl"


async def serve(
    machinery: Machinery,
    plan: CompanyPlan,
    folder: Path,
    channels: Mapping[str, socket.socket],
) -> Server:
    """Returns when it listens. ``channels`` lead to the agents, by name. Their processes must have
    been forked before: a child has all that its parent remembers, and here are keys from now on."""
    check_plan(plan)
    hide_memory()
    plane = Plane(plan.settings, plan.fleet, machinery, Log(folder / LOG_FILE))
    director = Director(plane, plan.acts)
    await director.welcome(channels)
    server = Server(plane, director)
    address = folder / SOCKET_FILE
    await server.start(address)
    await director.open(address)
    return server


def check_plan(plan: CompanyPlan) -> None:
    known = {(one.service, one.setting) for one in plan.settings}
    for act in plan.acts:
        if act.real and (act.service, act.setting) not in known:
            raise BadInput(f"the plan moves {act.setting} on {act.service}, which has no such one")
        if act.author not in (*plan.fleet, HUMAN, INFRASTRUCTURE):
            raise BadInput(f"the plan has an act by {act.author}, who is not of the fleet")
