"""How many threads llama.cpp computes with.

Its threads wait for each other in a loop. With more threads than free cores, one that has no core
keeps the others spinning, and two threads can take three times as long as one.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from statistics import median_low

from chaosops.core.errors import BadInput

VARIABLE = "CHAOSOPS_THREADS"


def thread_count() -> int:
    """``CHAOSOPS_THREADS``, or the cores that are free now."""
    given = os.environ.get(VARIABLE)
    if not given:
        return free_cores()
    if not given.isdecimal() or int(given) < 1:
        raise BadInput(f"{VARIABLE} must be a whole number from 1, got {given!r}")
    return int(given)


def free_cores() -> int:
    """The cores that this process may use, without those that others are using; at least 1."""
    cores = os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    return max(1, min(allowed, _quota(cores), cores - _busy()))


def _quota(cores: int) -> int:
    """What a container may use: ``cpu.max`` holds microseconds in a period, or max."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return int(quota) // int(period)
    except (OSError, ValueError):
        return cores


def _busy() -> int:
    """Threads of others that are running now. The load average would be an old answer: it
    includes what ended a minute ago."""
    samples = []
    for _ in range(5):
        try:
            running = Path("/proc/loadavg").read_text().split()[3].partition("/")[0]
        except OSError:  # not Linux
            return round(os.getloadavg()[0]) if hasattr(os, "getloadavg") else 0
        samples.append(int(running) - 1)  # without this thread
        time.sleep(0.01)
    return median_low(samples)
