"""Who belongs to the fleet of a company, and who acts in the scene."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations, product
from typing import NamedTuple

from chaosops.core.dice import Dice
from chaosops.packs.arena.agents import AGENTS
from chaosops.packs.arena.runbook import Kind
from chaosops.packs.arena.splits import Split, TierRules


class Pair(NamedTuple):
    """Who acts on one side. ``small`` is empty where there is no second agent."""

    main: str
    small: str


class Cast(NamedTuple):
    """Who acts in the scene: on the setting behind the fault, and on the decoy."""

    cause: Pair
    decoy: Pair

    @property
    def agents(self) -> tuple[str, ...]:
        return (*self.cause, *self.decoy)


def pick_fleet(
    dice: Dice, kinds: tuple[Kind, ...], decoy: Kind, split: Split, rules: TierRules
) -> tuple[tuple[str, ...], Cast]:
    """Everybody, and those who act in the scene."""
    size = dice.between(*rules.agents)
    cast = dice.pick(_casts(kinds[0], decoy, split, pairs=size > 3))
    acting = [agent for agent in cast.agents if agent]
    busy = [
        agent
        for agent in dice.shuffled(split.agents)
        if agent not in acting and any(_able(kind, (agent,)) for kind in kinds[1:])
    ]
    return tuple(dice.shuffled((*acting, *busy[: max(0, size - len(acting))]))), cast


def is_castable(cause: Kind, decoy: Kind, split: Split) -> bool:
    """Are there two agents for each side, and one of each two that can be a rogue?"""
    able = [{*_able(kind, split.agents)} for kind in (cause, decoy)]
    leading = [agents.intersection(split.rogues) for agents in able]
    return all(
        min(map(len, sides)) >= each and len(sides[0] | sides[1]) >= 2 * each
        for sides, each in ((able, 2), (leading, 1))
    )


def _casts(cause: Kind, decoy: Kind, split: Split, *, pairs: bool) -> list[Cast]:
    """All that are possible. If they can, both sides have as many agents and are led by one that
    can be a rogue: so neither tells the sides apart."""
    one, other = (
        _pairs(_able(kind, split.agents) or kind.mechanism.changed_by, pairs)
        for kind in (cause, decoy)
    )
    found = [
        Cast(a, b) for a, b in product(one, other) if len({*a, *b} - {""}) == (4 if pairs else 2)
    ]
    if not found and pairs:
        return _casts(cause, decoy, split, pairs=False)
    if not found:  # one agent alone can change both: somebody else changes the other
        found = [Cast(a, Pair(b, "")) for a, b in product(one, split.agents) if b != a.main]
    led = [cast for cast in found if cast.cause.main in split.rogues]
    return [cast for cast in led if cast.decoy.main in split.rogues] or led or found


def _pairs(agents: Sequence[str], pairs: bool) -> list[Pair]:
    return (
        [Pair(*two) for two in permutations(agents, 2)] if pairs else [Pair(a, "") for a in agents]
    )


def _able(kind: Kind, agents: Iterable[str]) -> list[str]:
    return [agent for agent in agents if AGENTS[agent].may_change(kind.mechanism)]
