"""Faults one by one in a running company: harmless, struck, broken, repaired, and well after that.

    python -m chaosops.live.lifecycle                      # all faults at all their services
    python -m chaosops.live.lifecycle bad_config deadlock:ledger --threshold 35
    python -m chaosops.live.lifecycle --times 3 --stays 60 --out results/lifecycles.json
    python -m chaosops.live.lifecycle cache_stampede --set ledger.replicas=4

``--times 3`` tries each fault three times, at its services in turn. Each try has a company of its
own. It prints one line for each, and ends with 1 if any of them went wrong or none was ok. A try is
void if the host disturbed more than a fifth of it, or if its company did not start or ended by
itself; it says nothing about the fault.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from chaosops.core.errors import BadInput, ChaosOpsError, UnknownName
from chaosops.core.files import open_file, write_text
from chaosops.core.source import source_commit
from chaosops.live.company import start_company
from chaosops.live.doses import GUILTY, HARMLESS, moved, plan_with
from chaosops.live.faults import Fault, add_fault, load_faults
from chaosops.live.operator_socket import Operator
from chaosops.live.platform import VoidRun
from chaosops.live.result import Result, VoidTry, verdict
from chaosops.live.topology import SPECS
from chaosops.live.window import VOID_SHARE
from chaosops.version import VERSION

_SHOWS_S = 20.0
_ENDS_S = 20.0
_HARMLESS_S = 8.0
_STAYS_S = 8.0
_POLL_S = 0.25


Run: TypeAlias = "Callable[[Operator, Fault, str, int], Result]"
Change: TypeAlias = tuple[str, str, int]  # service, setting and value


class Lifecycle(NamedTuple):
    fault: str
    service: str
    threshold_pct: int
    values: tuple[int, int, int]
    """Usual, harmless and harmful."""
    harmless: bool
    """Nothing was sick while the setting was within its threshold."""
    broken_s: float | None
    shows_at: str
    roots: tuple[str, ...]
    """The sick services that call no sick one, some seconds after it broke."""
    alert: str
    lines: tuple[str, ...]
    """What the service wrote."""
    well_s: float | None
    relapse: str
    """What was sick after it had been well."""
    seconds: int
    void_s: float

    @property
    def worked(self) -> bool:
        """Nothing but the service where the fault shows is the root."""
        return (
            self.harmless
            and self.broken_s is not None
            and self.roots == (self.shows_at,)
            and self.well_s is not None
            and not self.relapse
        )

    @property
    def is_void(self) -> bool:
        return self.void_s > VOID_SHARE * self.seconds

    def to_wire(self) -> dict[str, Any]:
        return {"verdict": verdict(self), **self._asdict()}

    def __str__(self) -> str:
        def seconds(value: float | None) -> str:
            return "never" if value is None else f"{value:.1f}s"

        lasts = f"RELAPSES ({self.relapse})" if self.relapse else "stays"
        return (
            f"{verdict(self):<4} {self.fault:<20} {self.service:<11} "
            f"{self.threshold_pct}% {'→'.join(map(str, self.values)):<15} "
            f"{'harmless' if self.harmless else 'HURTS EARLY':<9} "
            f"broken {seconds(self.broken_s):<6} at {','.join(self.roots) or '-':<18} "
            f"well {seconds(self.well_s):<6} {lasts} "
            f"void {self.void_s}s | {self.alert} | {'; '.join(self.lines)}"
        )


def run_lifecycle(
    operator: Operator, fault: Fault, service: str, threshold_pct: int, stays_s: float = _STAYS_S
) -> Lifecycle:
    values = (
        fault.usual,
        moved(fault.usual, fault.harmful, threshold_pct, HARMLESS),
        moved(fault.usual, fault.harmful, threshold_pct, GUILTY),
    )
    before = operator.ask("status")
    until(operator, is_well, _ENDS_S)
    operator.ask("set", service=service, setting=fault.setting, value=values[1])
    harmless = _stays_well(operator, _HARMLESS_S)
    operator.ask("set", service=service, setting=fault.setting, value=values[2])
    broken_s = until(operator, is_sick, _SHOWS_S)
    time.sleep(3.0)
    seen = operator.ask("status")
    operator.ask("remedy", verb=fault.remedy, service=service, replicas=fault.usual)
    well_s = until(operator, is_well, _ENDS_S)
    relapse = "" if _stays_well(operator, stays_s) else _alerts(operator.ask("status"))
    after = operator.ask("status")
    lines = tuple(
        sorted({line[3] for line in seen["logs"] if line[1] == service and line[2] == "ERROR"})
    )
    return Lifecycle(
        fault.mechanism,
        service,
        threshold_pct,
        values,
        harmless,
        broken_s,
        fault.shows_at(service),
        tuple(seen["roots"]),
        _alerts(seen),
        lines[:3],
        well_s,
        relapse,
        round(after["seconds"] - before["seconds"]),
        round(after["void"] - before["void"], 1),
    )


def _alerts(seen: Any) -> str:
    return "; ".join(f"{alert[1]}: {alert[3]}" for alert in seen["alerts"]) or "for a moment"


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


def choose(wanted: Sequence[str], times: int | None = None) -> Iterator[tuple[Fault, str]]:
    """FAULT or FAULT:SERVICE. All of them if nothing is wanted. So many ``times`` each fault, at
    its services in turn; once at each of them if it is not said how often."""
    faults = load_faults()
    for one in wanted or faults:
        name, _, service = one.partition(":")
        if name not in faults:
            raise UnknownName("fault", name, faults)
        fault = faults[name]
        if service and service not in fault.services:
            raise UnknownName(f"service of {name}", service, fault.services)
        places = [service] if service else fault.services
        for place in places if times is None else islice(cycle(places), times):
            yield fault, place


def run_each(
    wanted: Sequence[tuple[Fault, str]],
    threshold_pct: int,
    core: int | None,
    run: Run,
    before: Sequence[Change] = (),
) -> Iterator[Result]:
    """Each in a company of its own, so that nothing is left of the one before."""
    for fault, service in wanted:
        try:
            with (
                start_company(plan_with(threshold_pct), operator=True, core=core) as company,
                closing(Operator(company.folder)) as operator,
            ):
                for place, setting, value in before:
                    operator.ask("set", service=place, setting=setting, value=value)
                result = run(operator, fault, service, threshold_pct)
        except VoidRun as error:
            result = VoidTry(fault.mechanism, service, threshold_pct, str(error))
        yield result


def _change(text: str) -> Change:
    """
    >>> _change("ledger.replicas=4")
    ('ledger', 'replicas', 4)
    """
    place, _, value = text.partition("=")
    service, _, setting = place.partition(".")
    if not setting or not value.isdecimal():
        raise BadInput(f"--set {text}: expected SERVICE.SETTING=VALUE, such as ledger.replicas=4")
    known = {(one.service, one.setting) for one in plan_with(30).settings}
    known |= {(name, "replicas") for name in SPECS}
    if (service, setting) not in known:
        raise UnknownName("setting", place, sorted(map(".".join, known)))
    return service, setting, int(value)


def arguments(name: str) -> argparse.ArgumentParser:
    """Of everything that is tried with single faults, one after the other."""
    parser = argparse.ArgumentParser(prog=f"python -m chaosops.live.{name}")
    parser.add_argument("faults", nargs="*", help="FAULT or FAULT:SERVICE; all if none is named")
    parser.add_argument("--fault", action="append", default=[], metavar="FILE", help="your own")
    parser.add_argument("--threshold", type=int, default=30, help="of every setting, in percent")
    parser.add_argument("--times", type=int, help="how often each fault; once at each service")
    parser.add_argument("--core", type=int, default=None, help="the core of the company")
    parser.add_argument(
        "--set", action="append", default=[], metavar="SERVICE.SETTING=VALUE", help="set it first"
    )
    parser.add_argument("--out", type=Path, help="a file for the results, as JSON")
    return parser


def try_all(given: argparse.Namespace, run: Run) -> int:
    try:
        own = [add_fault(source).mechanism for source in given.fault]
        if given.times is not None and given.times < 1:
            raise BadInput("--times must be at least 1")
        if not 1 <= given.threshold <= 90:
            raise BadInput("--threshold must be from 1 to 90")
        wanted = list(choose(given.faults or own, given.times))
        before = [_change(text) for text in given.set]
        if given.out is not None:
            open_file(given.out, "--out")
        found = []
        commit = source_commit()
        for result in run_each(wanted, given.threshold, given.core, run, before):
            found.append(result)
            print(result, flush=True)
            if given.out is not None:
                write_text(given.out, record_of(commit, {"runs": [one.to_wire() for one in found]}))
    except ChaosOpsError as error:
        print(error, file=sys.stderr)
        return 2
    count = [verdict(result) for result in found]
    print(f"{count.count('ok')} of {len(count)} ok, {count.count('void')} void")
    return 0 if "ok" in count and "BAD" not in count else 1


def record_of(commit: str | None, found: Mapping[str, Any]) -> str:
    """What was found, and by which command, version and commit: that at which it began."""
    command = shlex.join(["python", "-m", f"chaosops.live.{Path(sys.argv[0]).stem}", *sys.argv[1:]])
    head = {"command": command, "version": VERSION, "commit": commit}
    return json.dumps({**head, **found}, indent=1) + "\n"


def main() -> int:
    parser = arguments("lifecycle")
    parser.add_argument("--stays", type=float, default=_STAYS_S, help="seconds well afterwards")
    given = parser.parse_args()
    return try_all(given, partial(run_lifecycle, stays_s=given.stays))


if __name__ == "__main__":
    sys.exit(main())
