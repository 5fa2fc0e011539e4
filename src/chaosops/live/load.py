"""The users: requests at a constant rate, whether they are answered or not."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from chaosops.core.dice import Dice, key_of
from chaosops.live.client import CallFailed
from chaosops.live.replica import Replica
from chaosops.live.topology import HEAVY_EVERY, RATES, SERVICES

_JITTER = 0.1  # of the time between two requests
_EDGE = SERVICES[0].name


async def run_load(users: Replica) -> None:
    """``users`` is a process like a replica, which serves nobody."""
    await users.prepare()
    loop = asyncio.get_running_loop()
    begin = loop.time() + 0.2
    for place, (kind, rate) in enumerate(RATES.items()):
        # The kinds do not come at the same moments.
        users.spawn(_send(users, kind, rate, begin + place / (rate * len(RATES))))
    await asyncio.Event().wait()


async def _send(users: Replica, kind: str, rate: int, begin: float) -> None:
    dice = Dice(key_of("load", kind))
    loop = asyncio.get_running_loop()
    ticket = 0
    while True:
        due = begin + (ticket + _JITTER * (dice.unit() - 0.5)) / rate
        await asyncio.sleep(max(0.0, due - loop.time()))
        users.spawn(_request(users, kind, ticket))
        ticket += 1


async def _request(users: Replica, kind: str, ticket: int) -> None:
    with suppress(CallFailed):
        await users.client.call(_EDGE, kind, ticket, heavy=ticket % HEAVY_EVERY == 0)
