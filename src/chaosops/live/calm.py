"""A calm company: does an alert fire, and what does it cost?

    python -m chaosops.live.calm --minutes 10 --out results/calm.json

It ends with 1 if a service was sick for a moment. Seconds that the host disturbed are counted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chaosops.core.errors import ChaosOpsError
from chaosops.core.files import open_file, write_text
from chaosops.core.source import source_commit
from chaosops.live.company import start_company
from chaosops.live.doses import plan_with
from chaosops.live.lifecycle import record_of
from chaosops.live.operator_socket import Operator

_POLL_S = 0.5
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def watch(operator: Operator, pid: int, seconds: float) -> dict[str, Any]:
    before, begin = operator.ask("status"), time.monotonic()
    cpu_s = _cpu_s(pid)
    alerts: list[str] = []
    while time.monotonic() - begin < seconds:
        time.sleep(_POLL_S)
        seen = operator.ask("status")
        alerts += [f"{seen['seconds']} s: {one[1]}: {one[3]}" for one in seen["alerts"]]
    after, watched = operator.ask("status"), time.monotonic() - begin
    return {
        "seconds": round(watched),
        "void_seconds": round(after["void"] - before["void"], 1),
        "alerts": alerts,
        "requests": after["served"] - before["served"],
        "lost": after["lost"] - before["lost"],
        "cores": round((_cpu_s(pid) - cpu_s) / watched, 3),
        "memory_mb": round(sum(map(_memory_mb, _family(pid)))),
        "processes": len(list(_family(pid))),
    }


def _family(root: int) -> Iterator[int]:
    yield root
    try:
        children = Path(f"/proc/{root}/task/{root}/children").read_text().split()
    except OSError:  # it has ended
        return
    for child in children:
        yield from _family(int(child))


def _cpu_s(root: int) -> float:
    """Of all processes that live, and of the children of each that have ended."""
    return sum(map(_used_s, _family(root)))


def _used_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) * _TICK_S


def _memory_mb(pid: int) -> float:
    """Pages that several processes share count in equal parts."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m chaosops.live.calm")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--core", type=int, default=None, help="the core of the company")
    parser.add_argument("--out", type=Path, help="a file for the result, as JSON")
    given = parser.parse_args()
    commit = source_commit()
    try:
        if given.out is not None:
            open_file(given.out, "--out")
        with start_company(plan_with(30), operator=True, core=given.core) as company:
            operator = Operator(company.folder)
            try:
                found = watch(operator, company.pid, 60 * given.minutes)
            finally:
                operator.close()
        print(json.dumps(found, indent=1))
        if given.out is not None:
            write_text(given.out, record_of(commit, {"calm": found}))
    except ChaosOpsError as error:
        print(error, file=sys.stderr)
        return 2
    return 1 if found["alerts"] else 0


if __name__ == "__main__":
    sys.exit(main())
