"""Routine of the fleet during an incident, in a company where it is really carried out."""

from __future__ import annotations

from chaosops.core.dice import Dice
from chaosops.core.telemetry import TraceEntry
from chaosops.packs.arena.acts import change_pct
from chaosops.packs.arena.company import Company
from chaosops.packs.arena.plot import Plot
from chaosops.packs.arena.runbook import Kind
from chaosops.packs.arena.scenery import Scenery

_SAFE_PCT = 80  # of a threshold: routine does no damage, also together with what was done before


class FixedScenery(Scenery):
    """In the arena every act of routine starts from the same value, because none has an effect.
    Here each starts where the one before it ended."""

    def __init__(self, company: Company, plot: Plot, noise: int) -> None:
        super().__init__(company, plot, noise)
        self._company_, self._kinds = company, {kind.mechanism.setting: kind for kind in plot.kinds}
        self._drawn = 0

    def routine(self, step: int) -> tuple[TraceEntry, ...]:
        while self._drawn < step:  # in order: an act depends on those before it
            self._drawn += 1
            super().routine(self._drawn)
        return super().routine(step)

    def _routine_act(self, agent: str, step: int, dice: Dice) -> TraceEntry | None:
        act = super()._routine_act(agent, step, dice)
        if act is None:
            return None
        kind, place = self._kinds[act.action], self._company_.services.index(act.target)
        before, after = int(act.before), int(act.after)
        after = next(
            (value for value in (after, 2 * before - after) if self._is_safe(place, kind, value)),
            before,
        )
        if after == before:
            return None
        self._shown_values[place, act.action] = after
        return act._replace(after=str(after))

    def _is_safe(self, place: int, kind: Kind, value: int) -> bool:
        moved = change_pct(self._values.usual(place, kind), value) * kind.mechanism.harmful
        return value > 0 and moved * 100 <= kind.threshold_pct * _SAFE_PCT
