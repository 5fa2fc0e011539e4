"""The control process: it starts the replicas, and runs the machinery and the control plane."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from typing import NamedTuple

from chaosops.live import operator_socket
from chaosops.live.control.serving import serve
from chaosops.live.loopback_machinery import LoopbackMachinery
from chaosops.live.plan import CompanyPlan
from chaosops.live.replica import Surroundings
from chaosops.live.services import SCHEMA
from chaosops.live.topology import OUTSIDE, SERVICES, USERS


class Channels(NamedTuple):
    parent: socket.socket
    datagrams: socket.socket
    agents: Mapping[str, socket.socket]


async def run_control(
    plan: CompanyPlan, around: Surroundings, channels: Channels, operator: bool
) -> None:
    machinery = LoopbackMachinery(plan, around)
    await machinery.connect(channels.parent, channels.datagrams)
    await machinery.start([(name, 0) for name in OUTSIDE] + [("canary", 0)])
    await _make_database(around)
    await machinery.start([(spec.name, slot) for spec in SERVICES for slot in range(spec.replicas)])
    await machinery.start([(USERS, 0)])
    # Kept, because nothing else refers to it.
    plane = await serve(machinery, plan, around.folder, dict(channels.agents))
    if operator:
        await operator_socket.serve(machinery, around.folder / operator_socket.FILE)
    await machinery.until_calm()
    machinery.tell_parent({"do": "ready"})
    await asyncio.Event().wait()
    del plane


async def _make_database(around: Surroundings) -> None:
    import asyncpg

    from chaosops.live import postgres

    await asyncio.to_thread(postgres.wait_for_socket, around.folder)
    connection = await asyncpg.connect(**around.database)
    await connection.execute(SCHEMA)
    await connection.close()
