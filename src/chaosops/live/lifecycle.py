"""Faults one by one in a running company: harmless, struck, broken, repaired, and well after that.

    python -m chaosops.live.lifecycle                      # all faults at all their services
    python -m chaosops.live.lifecycle bad_config deadlock:ledger --threshold 35

It prints one line for each, and ends with 1 if any of them went wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeAlias

from chaosops.core.errors import BadInput, ChaosOpsError, UnknownName
from chaosops.live.company import Company, start_company
from chaosops.live.faults import Fault, add_fault, load_faults, sizes_in
from chaosops.live.operator_socket import Operator
from chaosops.live.plan import CompanyPlan

HARMLESS, GUILTY = 0.92, 1.25
"""Of the threshold: what the plot calls harmless goes no further, and what did the damage goes at
least as far."""
_SHOWS_S = 20.0
_ENDS_S = 20.0
_STAYS_S = 8.0
_POLL_S = 0.25


class Result(Protocol):
    """What was found at one service, as a line of text."""

    @property
    def worked(self) -> bool: ...


Run: TypeAlias = "Callable[[Operator, Fault, str, int], Result]"


class Lifecycle(NamedTuple):
    fault: str
    service: str
    threshold_pct: int
    values: tuple[int, int, int]
    """Usual, harmless and harmful."""
    harmless: bool
    """Nothing was sick while the setting was within its threshold."""
    broken_s: float | None
    roots: tuple[str, ...]
    """The sick services that call no sick one, some seconds after it broke."""
    alert: str
    lines: tuple[str, ...]
    """What the service wrote."""
    well_s: float | None
    stays: bool
    void_s: int

    @property
    def worked(self) -> bool:
        return (
            self.harmless and self.broken_s is not None and self.well_s is not None and self.stays
        )

    def __str__(self) -> str:
        def seconds(value: float | None) -> str:
            return "never" if value is None else f"{value:.1f}s"

        return (
            f"{'ok  ' if self.worked else 'BAD '} {self.fault:<20} {self.service:<11} "
            f"{self.threshold_pct}% {'→'.join(map(str, self.values)):<15} "
            f"{'harmless' if self.harmless else 'HURTS EARLY':<9} "
            f"broken {seconds(self.broken_s):<6} at {','.join(self.roots) or '-':<18} "
            f"well {seconds(self.well_s):<6} {'stays' if self.stays else 'RELAPSES'} "
            f"void {self.void_s}s | {self.alert} | {'; '.join(self.lines)}"
        )


def plan_with(threshold_pct: int, seed: int = 1) -> CompanyPlan:
    """A company without a fleet, all of whose settings have the same threshold."""
    empty = CompanyPlan(seed, (), (), ())
    settings = [
        replace(size, threshold_pct=threshold_pct)
        for found in sizes_in(empty).values()
        for size in found.values()
    ]
    return CompanyPlan(seed, tuple(settings), (), ())


def moved(usual: int, direction: int, threshold_pct: int, share: float) -> int:
    """The value after a change of so many thresholds, rounded as the arena does.

    >>> moved(8, -1, 30, 0.92), moved(8, -1, 30, 1.25), moved(60, 1, 35, 1.25)
    (6, 5, 87)
    """
    by = -(-usual * round(share * threshold_pct * 100) // 10_000)
    if share > 1:
        by = max(by, -(-usual * (threshold_pct + 1) // 100))
    else:
        by = min(by, max(1, usual * threshold_pct // 100))
    return max(1, usual + direction * by)


def run_lifecycle(operator: Operator, fault: Fault, service: str, threshold_pct: int) -> Lifecycle:
    values = (
        fault.usual,
        moved(fault.usual, fault.harmful, threshold_pct, HARMLESS),
        moved(fault.usual, fault.harmful, threshold_pct, GUILTY),
    )
    void = operator.ask("status")["void"]
    until(operator, is_well, _ENDS_S)
    operator.ask("set", service=service, setting=fault.setting, value=values[1])
    harmless = _stays_well(operator, _STAYS_S)
    operator.ask("set", service=service, setting=fault.setting, value=values[2])
    broken_s = until(operator, is_sick, _SHOWS_S)
    time.sleep(3.0)
    seen = operator.ask("status")
    operator.ask("remedy", verb=fault.remedy, service=service, replicas=fault.usual)
    well_s = until(operator, is_well, _ENDS_S)
    stays = _stays_well(operator, _STAYS_S)
    void = operator.ask("status")["void"] - void
    lines = tuple(
        sorted({line[3] for line in seen["logs"] if line[1] == service and line[2] == "ERROR"})
    )
    alerts = "; ".join(f"{alert[1]}: {alert[3]}" for alert in seen["alerts"])
    return Lifecycle(
        fault.mechanism,
        service,
        threshold_pct,
        values,
        harmless,
        broken_s,
        tuple(seen["roots"]),
        alerts,
        lines[:3],
        well_s,
        stays,
        void,
    )


def until(operator: Operator, reached: Callable[[Any], bool], limit_s: float) -> float | None:
    """How long it took, or None."""
    begin = time.monotonic()
    while time.monotonic() - begin < limit_s:
        if reached(operator.ask("status")):
            return time.monotonic() - begin
        time.sleep(_POLL_S)
    return None


def is_sick(seen: Any) -> bool:
    return any(seen["health"].values())


def is_well(seen: Any) -> bool:
    return not is_sick(seen)


def _stays_well(operator: Operator, seconds: float) -> bool:
    return until(operator, is_sick, seconds) is None


def choose(wanted: Sequence[str]) -> Iterator[tuple[Fault, str]]:
    """FAULT or FAULT:SERVICE. All of them if nothing is wanted."""
    faults = load_faults()
    for one in wanted or faults:
        name, _, service = one.partition(":")
        if name not in faults:
            raise UnknownName("fault", name, faults)
        fault = faults[name]
        if service and service not in fault.services:
            raise UnknownName(f"service of {name}", service, fault.services)
        for place in [service] if service else fault.services:
            yield fault, place


def run_all(
    company: Company, wanted: Sequence[str], threshold_pct: int, run: Run = run_lifecycle
) -> Iterator[Result]:
    operator = Operator(company.folder)
    try:
        for fault, service in choose(wanted):
            company.require_running()
            yield run(operator, fault, service, threshold_pct)
    finally:
        operator.close()


def main(name: str = "lifecycle", run: Run = run_lifecycle) -> int:
    """The command line of everything that is tried with single faults, one after the other."""
    parser = argparse.ArgumentParser(prog=f"python -m chaosops.live.{name}")
    parser.add_argument("faults", nargs="*", help="FAULT or FAULT:SERVICE; all if none is named")
    parser.add_argument("--fault", action="append", default=[], metavar="FILE", help="your own")
    parser.add_argument("--threshold", type=int, default=30, help="of every setting, in percent")
    parser.add_argument("--core", type=int, default=None, help="the core of the company")
    given = parser.parse_args()
    try:
        own = [add_fault(source).mechanism for source in given.fault]
        wanted = given.faults or own
        list(choose(wanted))
        if not 1 <= given.threshold <= 90:
            raise BadInput("--threshold must be from 1 to 90")
        well = True
        with start_company(plan_with(given.threshold), operator=True, core=given.core) as company:
            for found in run_all(company, wanted, given.threshold, run):
                print(found, flush=True)
                well = well and found.worked
    except ChaosOpsError as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
