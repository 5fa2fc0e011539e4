"""Says when the host disturbed the company: a process that sleeps, and notes by how much too long.

It runs on the same core as the company, which leaves more than half of it free on a calm day. When
something else takes the core, the canary wakes up late, and the second does not count.
"""

from __future__ import annotations

import asyncio
import time

from chaosops.live.reports import INTERVAL_S, Reporter

_NAP_S = 0.02


async def run_canary(reporter: Reporter) -> None:
    worst = 0.0
    lag = {"now": 0.0}
    reporter.gauges["lag_ms"] = lambda: round(1000 * lag["now"], 1)
    await reporter.start()
    due = time.monotonic() + INTERVAL_S
    while True:
        before = time.monotonic()
        await asyncio.sleep(_NAP_S)
        now = time.monotonic()
        worst = max(worst, now - before - _NAP_S)
        if now >= due:
            lag["now"], worst, due = worst, 0.0, now + INTERVAL_S
            reporter.send()
