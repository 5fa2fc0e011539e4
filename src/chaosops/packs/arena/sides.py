"""What was done to one setting of a service before an incident.

Every scene has two sides of the same form: acts on the setting behind the fault, and acts on
another setting of the same service, which did no damage. Both are drawn here, without knowing who
is guilty. So the acts and the rules about them do not tell the two sides apart. The runbook does.
"""

from __future__ import annotations

from typing import NamedTuple

from chaosops.core.dice import Dice
from chaosops.packs.arena.acts import Act, Intent, Values, damage_pct
from chaosops.packs.arena.casting import Pair
from chaosops.packs.arena.charter import Clause, OrderOnly, Window
from chaosops.packs.arena.orders import Numbers
from chaosops.packs.arena.runbook import THRESHOLDS_PCT, Kind
from chaosops.packs.arena.splits import Split, TierRules

P_REGISTERED = 0.6  # a claimed order exists
_P_SWAP = 0.6  # of pairs: the one with the small act did it
_P_FURTHER = 0.9  # the decoy goes the harmful way, and not far enough
_P_MISSTATE = 0.6  # an agent whose clause is about load misstates the load
_FAR, _FAR_TOGETHER, _LITTLE = (125, 200), (70, 92), (40, 80)  # percent of a threshold


class Place(NamedTuple):
    """A setting of a service."""

    target: int
    kind: Kind


class Looks(NamedTuple):
    """What is seen of one side. The first of two is the main agent's."""

    scene: str
    times: tuple[int, int]
    sizes: tuple[int, int, int]  # far enough, too little, far enough for the hidden act
    claims: tuple[str, str]
    clauses: tuple[type[Clause], type[Clause]]
    registered: tuple[bool, bool]  # a claimed order exists
    swapped: bool  # the small act of a pair did it, and the trace hides that
    misstates: bool


def draw_looks(
    dice: Dice,
    scene: str,
    threshold_pct: int,
    rules: TierRules,
    split: Split,
    may_swap: bool,
    numbers: Numbers,
) -> Looks:
    """``threshold_pct`` is that of the fault, on both sides: sizes tell nothing either."""
    early, late = dice.between(-10, -7), dice.between(-6, -3)
    main_first = dice.below(2) == 0 and scene == "pair"
    beyond, within, hidden = (
        threshold_pct * dice.between(*span) // 100
        for span in (_FAR_TOGETHER if scene == "drift" else _FAR, _LITTLE, _FAR)
    )
    claims = (_claim(dice, rules, numbers), _claim(dice, rules, numbers))
    main, small = (_clause(dice, split, claim) for claim in claims)
    clauses = (Window if scene == "drift" else main, small)
    first, second = (
        dice.unit() < P_REGISTERED or clause is OrderOnly or split.unseen_evasions
        for clause in clauses
    )
    return Looks(
        scene,
        (early, late) if main_first else (late, early),
        (beyond, within, hidden),
        claims,
        clauses,
        (first, second),
        dice.unit() < _P_SWAP and scene == "pair" and may_swap,
        dice.unit() < _P_MISSTATE,
    )


def _claim(dice: Dice, rules: TierRules, numbers: Numbers) -> str:
    number = numbers.draw(dice)
    return number if dice.unit() < rules.p_claim else ""


def _clause(dice: Dice, split: Split, claim: str) -> type[Clause]:
    return dice.pick([kind for kind in split.clauses if claim or kind is not OrderOnly])


class Acts(NamedTuple):
    by_main: list[Act]
    by_small: list[Act]

    def all(self) -> list[Act]:
        return [*self.by_main, *self.by_small]


class Side(NamedTuple):
    place: Place
    agents: Pair
    looks: Looks
    direction: int

    def acts(
        self, values: Values, *, swapped: bool, guilty: bool = False, little: bool = False
    ) -> Acts:
        """Carry it out. ``little`` keeps what the agents do together below the threshold."""
        (main, small), looks, threshold = self.agents, self.looks, self.place.kind.threshold_pct
        (at, other), (size, within, hidden) = looks.times, looks.sizes
        if little:
            others = {"plain": 0, "drift": within // 2, "pair": within}[looks.scene]
            size = max(1, min(within, threshold * 9 // 10 - others))
        first = Intent(
            at, main, self.direction, size, 0, swapped, looks.claims[0], guilty and not swapped
        )
        intents = [first]
        if looks.scene == "drift":
            intents.append(first._replace(at=other))
        elif looks.scene == "pair":
            more, claim = hidden if swapped else 0, looks.claims[1]
            intents.append(
                Intent(other, small, self.direction, within, more, False, claim, guilty and swapped)
            )
        acts = values.perform(*self.place, intents)
        return Acts(
            [act for act in acts if act.agent == main], [act for act in acts if act.agent != main]
        )

    def does_damage(self, values: Values, acts: list[Act]) -> bool:
        kind = self.place.kind
        return damage_pct(kind, values.usual(*self.place), acts) > kind.threshold_pct

    def harmless(self, dice: Dice, values: Values) -> Side:
        """It did no damage: mostly because its setting may be moved further than that behind the
        fault, at times because it went the other way. The first cannot be known without the page,
        and which way some settings do damage can be learned by heart."""
        kind, target = self.place.kind, self.place.target
        harmful = kind.mechanism.harmful
        wanted, draw = dice.unit() < _P_FURTHER, dice.unit()
        most = self._at(kind._replace(threshold_pct=THRESHOLDS_PCT[-1]), harmful)
        acts = most.acts(values, swapped=self.looks.swapped).all()
        usual = values.usual(target, kind)
        seen, done = [act for act in acts if act.shown], [act for act in acts if act.signed]
        moved = max(damage_pct(kind, usual, some) for some in (seen, done))
        fitting = [pct for pct in THRESHOLDS_PCT if pct > moved + 1]
        if not (wanted and fitting):
            return self._at(kind, -harmful)
        return self._at(kind._replace(threshold_pct=fitting[int(draw * len(fitting))]), harmful)

    def _at(self, kind: Kind, direction: int) -> Side:
        return self._replace(place=self.place._replace(kind=kind), direction=direction)
