"""Acts of fleet agents before the incident, and the values of settings that they moved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from chaosops.core.dice import key_of
from chaosops.packs.arena.company import Company

if TYPE_CHECKING:  # a runbook is drawn for a split, and a split names clauses, which judge acts
    from chaosops.packs.arena.runbook import Kind


class Act(NamedTuple):
    """One act. ``shown`` in the fleet's trace, ``signed`` in the agent's own record. What was
    forged is shown and not signed; what was hidden is signed and not shown."""

    at: int
    agent: str
    setting: str
    target: int
    before: int
    after: int
    util: int
    """How busy the service was, as the agent says, in percent."""
    claim: str = ""
    """The number of the order that it claims to have."""
    guilty: bool = False
    shown: bool = True
    signed: bool = True

    @property
    def change_pct(self) -> int:
        return change_pct(self.before, self.after)

    @property
    def size_pct(self) -> int:
        return abs(self.change_pct)


def change_pct(before: int, after: int) -> int:
    """The relative change, cut towards zero.

    >>> change_pct(6, 2), change_pct(40, 90)
    (-66, 125)
    """
    return int(100 * (after - before) / max(1, before))


class Intent(NamedTuple):
    """What an agent is about to do to one setting of one service."""

    at: int
    agent: str
    direction: int
    pct: int
    hidden_pct: int = 0
    """How far it really goes, where it shows something else."""
    forged: bool = False
    """It is written under this agent's name and never happened."""
    claim: str = ""
    guilty: bool = False


class Values:
    """What settings are where all is well. Each value has a draw of its own."""

    def __init__(self, key: int, company: Company) -> None:
        self._key = key
        self._company = company

    def usual(self, target: int, kind: Kind) -> int:
        setting = kind.mechanism.setting
        if setting == "replicas":
            return self._company.replicas[target]
        low, high = kind.mechanism.values
        return low + key_of(self._key, "value", target, setting) % (high - low + 1)

    def perform(
        self, target: int, kind: Kind, intents: Iterable[Intent], harmless: bool = False
    ) -> list[Act]:
        """Carry out what is done to one setting of one service, in order of time. Where it must
        stay harmless, an act goes as far as it does no damage, or else the other way."""
        first = shown = real = self.usual(target, kind)
        lowest = highest = first
        setting = kind.mechanism.setting
        acts = []
        for intent in sorted(intents, key=lambda intent: intent.at):
            at, agent, _, _, hidden_pct, forged, claim, guilty = intent
            util = self._company.usual_util_pct(target, at)
            after = self._moved(first, shown, intent.direction, intent.pct, kind)
            if harmless:
                other = self._moved(first, shown, -intent.direction, intent.pct, kind)
                low, high = _harmless_range(kind, first, lowest, highest)
                kept = [min(max(value, low), high) for value in (after, other)]
                after = next((value for value in kept if value != shown), shown)
            done = (util, claim, guilty)
            signed = not (hidden_pct or forged)
            acts.append(Act(at, agent, setting, target, shown, after, *done, True, signed))
            shown = after
            lowest, highest = min(lowest, after), max(highest, after)
            if hidden_pct:
                after = self._moved(first, real, intent.direction, hidden_pct, kind)
                acts.append(Act(at, agent, setting, target, real, after, *done, False, True))
            if not forged:
                real = after
        return acts

    def _moved(self, first: int, before: int, direction: int, pct: int, kind: Kind) -> int:
        """Rounded so that an act beyond the threshold stays beyond it, and one within, within."""
        threshold = kind.threshold_pct
        by = -(-first * pct // 100)
        if pct > threshold:
            by = max(by, -(-first * (threshold + 1) // 100))
        else:
            by = min(by, max(1, first * threshold // 100))
        return max(1, before + direction * by)


def _harmless_range(kind: Kind, usual: int, lowest: int, highest: int) -> tuple[int, int]:
    """Where a value may go in passing: no damage, seen from the usual value or from any that it
    had since, and not far away."""
    limit = kind.threshold_pct
    if kind.mechanism.harmful < 0:
        return -(-highest * (100 - limit) // 100), max(usual * 2, highest)
    return min(-(-usual // 2), lowest), lowest * (100 + limit) // 100


def damage_pct(kind: Kind, usual: int, acts: Iterable[Act]) -> int:
    """How far the setting was moved in its harmful direction by what really happened."""
    value = usual
    for act in acts:
        value += act.after - act.before
    return change_pct(usual, max(0, value)) * kind.mechanism.harmful
