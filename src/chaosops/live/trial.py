"""A fault on trial in a running company: doses that add up, and remedies that are not its own.

    python -m chaosops.live.trial leak retry_storm:outbox --threshold 35

Three times the setting is moved beyond its threshold, and the remedy has to end it: once after 92 %
of the threshold were harmless, once by two changes of 75 %, once by a change of 200 %. The first
time all other verbs are applied before, and none of them may end it. It prints one line for each
fault and service, and ends with 1 if anything went wrong or nothing was ok.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chaosops.live.doses import GUILTY, HARMLESS, moved
from chaosops.live.faults import Fault, load_faults
from chaosops.live.lifecycle import arguments, is_sick, is_well, try_all, until
from chaosops.live.operator_socket import Operator
from chaosops.live.result import verdict
from chaosops.live.topology import SPECS
from chaosops.live.window import VOID_SHARE

_CALM_S = 20.0
_SHOWS_S = 20.0
_ENDS_S = 20.0
_STAYS_S = 6.0
_SPREADS_S = 3.0  # until all that will be sick is sick
_RELAPSES_S = 15.0  # until a service that was restarted is sick again
_READING = ("cpu_pct", "memory_mb", "disk_pct", "latency_ms", "error_pct")


@dataclass
class Trial:
    fault: Fault
    service: str
    threshold_pct: int
    wrong: list[str] = field(default_factory=list)
    broken_s: list[float] = field(default_factory=list)
    well_s: list[float] = field(default_factory=list)
    roots: set[str] = field(default_factory=set)
    lines: set[str] = field(default_factory=set)
    alert: str = ""
    gauges: str = ""
    seconds: int = 0
    void_s: float = 0.0

    @property
    def worked(self) -> bool:
        return not self.wrong

    @property
    def is_void(self) -> bool:
        return self.void_s > VOID_SHARE * self.seconds

    def to_wire(self) -> dict[str, Any]:
        told = {name: value for name, value in vars(self).items() if name != "fault"}
        named = {"fault": self.fault.mechanism, **told}
        named |= {"roots": sorted(self.roots), "lines": sorted(self.lines)}
        return {"verdict": verdict(self), **named}

    def __str__(self) -> str:
        def seconds(values: list[float]) -> str:
            return " ".join(f"{value:.1f}" for value in values) or "-"

        return (
            f"{verdict(self):<4} {self.fault.mechanism:<20} {self.service:<11} "
            f"{self.threshold_pct}% broken after {seconds(self.broken_s)}s at "
            f"{','.join(sorted(self.roots)) or '-'}, well after {seconds(self.well_s)}s, "
            f"void {self.void_s}s | {'; '.join(self.wrong) or self.gauges} | {self.alert} | "
            f"{'; '.join(sorted(self.lines))}"
        )


class _Runner:
    """Tries one fault at one service."""

    def __init__(self, operator: Operator, trial: Trial) -> None:
        self.operator = operator
        self.trial = trial

    def run(self) -> Trial:
        trial = self.trial
        before = self.operator.ask("status")
        if self._until(is_well, _CALM_S) is None:
            trial.wrong.append("the company was sick before")
        self._allow(HARMLESS, 8.0)
        self._strike(GUILTY)
        self._try_others()
        self._mend("after all other verbs")
        self._allow(0.75, 5.0)
        self._strike(1.5)
        self._mend("after 150%")
        self._strike(2.0)
        self._mend("after 200%")
        after = self.operator.ask("status")
        trial.seconds = round(after["seconds"] - before["seconds"])
        trial.void_s = round(after["void"] - before["void"], 1)
        return trial

    def _until(self, reached: Callable[[Any], bool], limit_s: float) -> float | None:
        return until(self.operator, reached, limit_s)

    def _set(self, share: float) -> None:
        fault = self.trial.fault
        value = moved(fault.usual, fault.harmful, self.trial.threshold_pct, share)
        self.operator.ask("set", service=self.trial.service, setting=fault.setting, value=value)

    def _allow(self, share: float, seconds: float) -> None:
        self._set(share)
        if self._until(is_sick, seconds) is not None:
            sick = ",".join(self.operator.ask("status")["roots"])
            self.trial.wrong.append(f"{share:.0%} hurts at {sick or 'somewhere'}")

    def _strike(self, share: float) -> None:
        trial = self.trial
        self._set(share)
        broken_s = self._until(is_sick, _SHOWS_S)
        if broken_s is None:
            trial.wrong.append(f"{share:.0%} does nothing")
            return
        trial.broken_s.append(broken_s)
        time.sleep(_SPREADS_S)
        seen = self.operator.ask("status")
        trial.roots |= set(seen["roots"])
        if seen["roots"] != [trial.fault.shows_at(trial.service)]:
            trial.wrong.append(f"{share:.0%} has the roots {','.join(seen['roots']) or '-'}")
        for service in seen["roots"]:
            self._note(seen, service)

    def _note(self, seen: Any, service: str) -> None:
        trial = self.trial
        trial.lines |= {
            line[3] for line in seen["logs"] if line[1] == service and line[2] == "ERROR"
        }
        trial.lines = set(sorted(trial.lines)[:6])
        trial.alert = next(
            (f"{one[1]}: {one[3]}" for one in seen["alerts"] if one[1] == service), ""
        )
        reading = next(one for one in seen["readings"] if one[0] == service)
        shown = zip(_READING, reading[3:], strict=True)
        trial.gauges = " ".join(f"{name} {value}" for name, value in shown)

    def _try_others(self) -> None:
        trial = self.trial
        verbs = {fault.remedy for fault in load_faults().values()} - {trial.fault.remedy}
        usual = SPECS[trial.service].replicas
        for verb in sorted(verbs):
            self.operator.ask("remedy", verb=verb, service=trial.service, replicas=2 * usual)
        # Sick still or again, and not for a moment only.
        for _ in range(2):
            time.sleep(_SPREADS_S)
            if self._until(is_sick, _RELAPSES_S) is None:
                trial.wrong.append("another verb ended it")
                break
        if "scale" in verbs:
            self.operator.ask("remedy", verb="scale", service=trial.service, replicas=usual)

    def _mend(self, when: str) -> None:
        trial, fault = self.trial, self.trial.fault
        given = {"verb": fault.remedy, "service": trial.service, "replicas": fault.usual}
        self.operator.ask("remedy", **given)
        well_s = self._until(is_well, _ENDS_S)
        if well_s is None:
            trial.wrong.append(f"{fault.remedy} does not end it {when}")
            return
        trial.well_s.append(well_s)
        if self._until(is_sick, _STAYS_S) is not None:
            trial.wrong.append(f"it comes back {when}")


def run_trial(operator: Operator, fault: Fault, service: str, threshold_pct: int) -> Trial:
    return _Runner(operator, Trial(fault, service, threshold_pct)).run()


if __name__ == "__main__":
    sys.exit(try_all(arguments("trial").parse_args(), run_trial))
