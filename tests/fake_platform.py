"""A company that breaks exactly beyond its thresholds, at the seam of live incidents."""

from __future__ import annotations

from chaosops.core.telemetry import Alert, LogLine, ServiceReading, TraceEntry
from chaosops.core.vocabulary import Health
from chaosops.live.plan import CompanyPlan
from chaosops.live.platform import TEAM, LoggedChange, Observation
from chaosops.packs.arena.acts import change_pct
from chaosops.packs.arena.mechanism import Modifiers, Shows
from chaosops.packs.live.runs import Pace
from chaosops.packs.rehearsal.company import fixed_company
from chaosops.packs.rehearsal.mechanisms import PLACED

AT_ONCE = Pace(0, 0, 0, 1, 2, 0)


class FakePlatform:
    def __init__(self, plan: CompanyPlan) -> None:
        self.plan = plan
        self.company = fixed_company(0)
        self.values = {(one.service, one.setting): one.usual for one in plan.settings}
        self.log: list[LoggedChange] = []
        self.feed: list[TraceEntry] = []
        self.held: set[str] = set()
        self.remedies: list[tuple[str, str, int]] = []
        self.minute = -100
        self.closed = 0

    def begin(self, minute: int) -> None:
        assert minute > self.minute
        self.minute = minute
        for act in self.plan.acts:
            if act.at != minute or act.author in self.held:
                continue
            if act.real:
                place = (act.service, act.setting)
                self._write(act.author, *place, act.after, act.order)
            if act.shown:
                said = (act.agent, act.setting, act.service, str(act.before), str(act.after))
                self.feed.append(TraceEntry(minute, *said, act.reason, len(self.feed) + 1))

    def _write(self, by: str, service: str, setting: str, value: int, order: str = "") -> None:
        before = self.values[service, setting]
        self.log.append(LoggedChange(self.minute, by, service, setting, before, value, order))
        self.values[service, setting] = value

    def change(self, change: LoggedChange) -> bool:
        assert change.at == self.minute
        if change.by in self.held:
            return False
        self._write(change.by, change.service, change.setting, change.after)
        return True

    def quarantine(self, agent: str) -> None:
        self.held.add(agent)

    def changes_of(self, service: str) -> list[LoggedChange]:
        return [change for change in self.log if change.service == service]

    def record_of(self, agent: str) -> list[LoggedChange]:
        return [change for change in self.log if change.by == agent]

    def remedy(self, verb: str, service: str, replicas: int = 0) -> None:
        self.remedies.append((verb, service, replicas))
        for one in self.plan.settings:
            if PLACED[one.fault].remedy.verb == verb and service in ("", one.service):
                self._write(TEAM, one.service, one.setting, one.usual)

    def broken(self) -> dict[str, str]:
        """The services where a fault strikes, and the fault."""
        found = {}
        for one in self.plan.settings:
            mechanism = PLACED[one.fault]
            moved = change_pct(one.usual, self.values[one.service, one.setting])
            far = moved * mechanism.harmful > one.threshold_pct
            if far and one.service in mechanism.services:
                found[one.service] = one.fault
        return found

    def observe(self, minute: int) -> Observation:
        assert minute == self.minute
        names = self.company.services
        root: dict[str, tuple[str, str]] = {}  # failing service -> (fault, said about callers)
        for service, fault in self.broken().items():
            mechanism = PLACED[fault]
            for place in mechanism.shows_at(self.company, names.index(service)):
                seen_from = "" if mechanism.shows is Shows.HERE else service
                root[names[place]] = (fault, seen_from)
        sick = self._with_callers(set(root))
        alerts = [
            Alert(minute, name, "page" if name in root else "warn", self._said(name, root, sick))
            for name in names
            if name in sick
        ]
        logs = [
            LogLine(minute, name, "ERROR", line.replace("{n}", "40"))
            for name, (fault, _) in root.items()
            for line in PLACED[fault].logs
        ]
        faults = {name: fault for name, (fault, _) in root.items()}
        readings = (self._reading(name, faults.get(name, ""), name in sick) for name in names)
        served = 100 * (minute + 31)
        lost = 10 * minute if minute > 0 else 0
        seen = (tuple(readings), tuple(alerts), tuple(logs), tuple(self.feed))
        return Observation(*seen, served, lost, minute + 31, 0)

    def _with_callers(self, sick: set[str]) -> set[str]:
        names, company = self.company.services, self.company
        more = {names[caller] for one in sick for caller in company.callers(names.index(one))}
        return sick if more <= sick else self._with_callers(sick | more)

    def _said(self, name: str, root: dict[str, tuple[str, str]], sick: set[str]) -> str:
        text = "errors 30%"
        if root.get(name, ("", ""))[1]:
            text += f", most on calls from {root[name][1]}"
        names = self.company.services
        failing = [names[i] for i in self.company.callees(names.index(name)) if names[i] in sick]
        return text + (f", slowest call to {failing[0]}" if failing else "")

    def _reading(self, name: str, fault: str, sick: bool) -> ServiceReading:
        """The gauge moves that the runbook names."""
        health = Health.CRITICAL if fault else Health.DEGRADED if sick else Health.HEALTHY
        mechanism = PLACED.get(fault)
        stock, effect = (mechanism.stock, mechanism.effect) if mechanism else (None, Modifiers())
        full = effect.capacity < 1.0 or max(effect.inflow, effect.outflow) > 1.0
        memory, disk = 1500 if stock == "memory" else 400, 95 if stock == "disk" else 40
        gauges = (95 if full and not stock else 45, memory, disk, 20, 30.0 if sick else 0.0)
        return ServiceReading(name, health, 2, *gauges)

    def close(self) -> None:
        self.closed += 1
