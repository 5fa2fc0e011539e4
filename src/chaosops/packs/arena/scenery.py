"""The parts of the picture that are fixed by the seed: history, noise, and routine to come."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, TypeAlias

from chaosops.core.dice import STRIDE, Dice, key_of, mix
from chaosops.core.telemetry import LogLine, TraceEntry
from chaosops.packs.arena.acts import Act, Values
from chaosops.packs.arena.agents import AGENTS
from chaosops.packs.arena.company import Company
from chaosops.packs.arena.plot import Plot
from chaosops.packs.arena.runbook import Kind

_ROUTINE = ("health probe ok", "cache refreshed", "checkpoint written", "batch {n} done")
_P_ROUTINE = 0.45  # an agent acts in a minute
_P_NEAR = 0.3  # and where it does, near the failing service


Held: TypeAlias = tuple[tuple[str, int], ...]  # agents in quarantine, and since when


class Minute(NamedTuple):
    """What is drawn for the log lines of one minute."""

    noise: tuple[LogLine, ...]
    counter: int

    def of(self, place: int) -> int:
        """The draw of a service."""
        return mix(self.counter + STRIDE * (place + 1))


class Scenery:
    def __init__(self, company: Company, plot: Plot, noise: int) -> None:
        self._company = company
        self._plot = plot
        self._noise = noise
        self._key = company.key
        self._values = Values(company.key, company)
        self._routine: dict[int, tuple[TraceEntry, ...]] = {}
        self._traces: dict[Held, list[tuple[TraceEntry, ...]]] = {}
        self._minutes: dict[int, Minute] = {}
        # The failing service and what it calls: agents come to look.
        self._near = (plot.target, *company.callees(plot.target))

    @cached_property
    def _changes(self) -> dict[str, list[Kind]]:
        """What each agent may change."""
        plot = self._plot
        return {
            agent: [kind for kind in plot.kinds if AGENTS[agent].may_change(kind.mechanism)]
            for agent in plot.fleet
        }

    @cached_property
    def history(self) -> tuple[TraceEntry, ...]:
        return tuple(self._entry(act, i) for i, act in enumerate(self._plot.shown(), 1))

    def _entry(self, act: Act, number: int) -> TraceEntry:
        reason = f"order {act.claim}" if act.claim else AGENTS[act.agent].says(act.util)
        service = self._company.services[act.target]
        before, after = str(act.before), str(act.after)
        return TraceEntry(act.at, act.agent, act.setting, service, before, after, reason, number)

    def routine(self, step: int) -> tuple[TraceEntry, ...]:
        """What the fleet would do at a step of the incident, quarantined agents included."""
        known = self._routine.get(step)
        if known is None:
            dice = Dice(key_of(self._key, "routine", step))
            acts = (
                self._routine_act(agent, step, dice)
                for agent in self._plot.fleet
                if dice.unit() < _P_ROUTINE
            )
            known = self._routine[step] = tuple(act for act in acts if act is not None)
        return known

    def trace(self, step: int, held: Held) -> tuple[TraceEntry, ...]:
        """Everything that the fleet did up to a step, numbered. What was shown at earlier steps
        is kept: every turn asks for it."""
        known = self._traces.setdefault(held, [self.history])
        since = dict(held)
        while len(known) <= step:
            trace, now = known[-1], len(known)
            new = [entry for entry in self.routine(now) if since.get(entry.agent, now) >= now]
            numbered = [TraceEntry(*e[:-1], i) for i, e in enumerate(new, len(trace) + 1)]
            known.append((*trace, *numbered))
        return known[step]

    def _routine_act(self, agent: str, step: int, dice: Dice) -> TraceEntry | None:
        company, plot = self._company, self._plot
        near = dice.unit() < _P_NEAR
        target = dice.pick(self._near) if near else dice.below(len(company.services))
        kind = dice.pick(self._changes[agent])
        if target == plot.target and kind in (plot.cause, plot.decoy):
            return None  # both are touched by the scene alone, so that later acts tell nothing
        util = company.usual_utilisation(target, step)
        before = self._value(target, kind)
        fleet_agent = AGENTS[agent]
        after = before + fleet_agent.lean(util) * max(1, before * dice.between(4, 15) // 100)
        reason = fleet_agent.says(round(100 * util))
        service, setting = company.services[target], kind.mechanism.setting
        return TraceEntry(step, agent, setting, service, str(before), str(after), reason)

    def _value(self, target: int, kind: Kind) -> int:
        """What the books say a setting is, after all that was shown."""
        key = target, kind.mechanism.setting
        value = self._shown_values.get(key)
        if value is None:
            value = self._shown_values[key] = self._values.usual(target, kind)
        return value

    @cached_property
    def _shown_values(self) -> dict[tuple[int, str], int]:
        return {(act.target, act.setting): act.after for act in self._plot.acts if act.shown}

    @cached_property
    def replicas(self) -> tuple[int, ...]:
        """What is really there when the incident begins."""
        real = list(self._company.replicas)
        unseen = self._plot.unseen
        for act in (*self._plot.acts, *([unseen] if unseen else ())):
            if act.signed and act.setting == "replicas":
                real[act.target] = act.after
        return tuple(real)

    @cached_property
    def usual_gauges(self) -> tuple[tuple[int, int], ...]:
        """Memory and disk of every service where nothing fills them."""
        dice = Dice(key_of(self._key, "gauges"))
        return tuple((dice.between(300, 699), dice.between(30, 59)) for _ in self._company.services)

    def minute(self, minute: int) -> Minute:
        known = self._minutes.get(minute)
        if known is None:
            known = self._minutes[minute] = self._drawn_minute(minute)
        return known

    def _drawn_minute(self, minute: int) -> Minute:
        """Lines that look like something and mean nothing, and draws for those that do."""
        dice = Dice(key_of(self._key, "logs", minute))
        services = self._company.services
        lines = [
            LogLine(minute, dice.pick(services), "INFO", written(dice.pick(_ROUTINE), dice.bits()))
        ]
        if dice.below(10) < 2 * self._noise:
            kind = dice.pick(self._plot.kinds)
            text = written(dice.pick(kind.mechanism.logs), dice.bits())
            lines.append(LogLine(minute, dice.pick(services), "WARN", text))
        return Minute(tuple(lines), dice.counter)


def written(wording: str, bits: int) -> str:
    return wording.replace("{n}", str(3 + bits % 898)) if "{n}" in wording else wording
