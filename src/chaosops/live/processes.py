"""The processes of a company, as its parent forks them."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from chaosops.live import postgres
from chaosops.live.certificates import Authority
from chaosops.live.control.agent import run_agent
from chaosops.live.control_process import Channels, run_control
from chaosops.live.faults import load_faults, sizes_in
from chaosops.live.replica import Replica, Surroundings, run_replica
from chaosops.live.topology import RESOLVER, TLS_SERVICES, USERS

if TYPE_CHECKING:
    from chaosops.live.parent import Parent

CANARY = "canary"


def warm_up() -> None:
    """Import what children use, so that they share it."""
    import asyncpg.connection
    import asyncpg.pool  # noqa: F401
    from aiohttp import web  # noqa: F401

    import chaosops.live.canary
    import chaosops.live.load
    import chaosops.live.services  # noqa: F401

    load_faults()


def surroundings(parent: Parent) -> Surroundings:
    # Made here, and not in the control process, so that all children know its port.
    parent.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    parent.datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
    parent.datagrams.bind(("127.0.0.1", 0))
    parent.datagrams.setblocking(False)
    parent.own.append(parent.datagrams)
    authority = Authority(parent.folder)
    for service in TLS_SERVICES:
        authority.issue(service)
    return Surroundings(
        parent.folder,
        parent.key,
        parent.datagrams.getsockname()[1],
        parent.listen(RESOLVER, 0).getsockname()[1],
        sizes_in(parent.plan),
        postgres.address(parent.folder),
        authority,
    )


def start_control(
    parent: Parent, around: Surroundings, agents: Mapping[str, socket.socket]
) -> socket.socket:
    """Fork the control process. Gives the parent's end of its line to it."""
    ours, theirs = socket.socketpair()
    parent.own += [ours, theirs]
    channels = Channels(theirs, parent.datagrams, agents)

    def control() -> None:
        asyncio.run(run_control(parent.plan, around, channels, parent.operator))

    keep = (theirs, parent.datagrams, *agents.values())
    pid = parent.fork("control", control, keep)
    parent.essential[pid] = "the control process"
    for one in (theirs, parent.datagrams, *agents.values()):
        one.close()
        parent.own.remove(one)
    return ours


def start_agents(parent: Parent) -> dict[str, socket.socket]:
    """They are forked before there is any key, and each draws its own. Each has a line to the
    control process, and knows no other."""
    assert not parent.key
    ends: dict[str, socket.socket] = {}
    for name in parent.plan.fleet:
        ours, theirs = socket.socketpair()
        parent.own += [ours, theirs]

        def agent(name: str = name, channel: socket.socket = theirs) -> None:
            run_agent(name, parent.plan, channel)

        parent.fork(name, agent, (theirs,))
        theirs.close()
        parent.own.remove(theirs)
        ends[name] = ours
    return ends


def start_replica(parent: Parent, around: Surroundings, service: str, slot: int) -> tuple[int, int]:
    """Fork a replica, or the users or the canary, which listen nowhere. Gives pid and port."""
    if service in (USERS, CANARY):
        return parent.fork(service, lambda: asyncio.run(_quiet(service, around))), 0
    listening = parent.listen(service, slot)

    def replica() -> None:
        asyncio.run(run_replica(Replica(service, slot, around), listening))

    pid = parent.fork(f"{service}-{slot}", replica, (listening,))
    return pid, listening.getsockname()[1]


async def _quiet(service: str, around: Surroundings) -> None:
    from chaosops.live.canary import run_canary
    from chaosops.live.load import run_load
    from chaosops.live.reports import Reporter

    if service == USERS:
        await run_load(Replica(USERS, 0, around))
    else:
        await run_canary(Reporter((CANARY, 0), around.control_port, around.key, lambda _: None))
    sys.exit(0)
