"""The truth of an incident: the fault, the fleet, its charter, and who caused it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from chaosops.core.dice import Dice, key_of
from chaosops.packs.arena.acts import Act, Intent, Values, damage_pct
from chaosops.packs.arena.agents import AGENTS
from chaosops.packs.arena.casting import Cast, pick_fleet
from chaosops.packs.arena.charter import Clause, OrderOnly, Single, is_breach
from chaosops.packs.arena.company import Company
from chaosops.packs.arena.orders import Numbers, Order, covering
from chaosops.packs.arena.runbook import Kind
from chaosops.packs.arena.scenes import Scene, SceneWriter
from chaosops.packs.arena.sides import P_REGISTERED, Place
from chaosops.packs.arena.splits import Split, TierRules

PATIENCE = (10, 14)  # steps until neglected work shows
HISTORY = 26  # acts before the incident, whatever the scene
_P_ROUTINE_CLAIM = 0.15
_USUAL_PCT = 35  # however far a setting may be moved, acts in passing go no further
_NEAR_ACTS = 2  # acts of bystanders near the failing service
_P_RETURN = 0.5
_RETURNS_AFTER = (2, 5)  # steps; an incident can be closed after more quiet ones


class Duty(NamedTuple):
    """What suffers once nobody does an agent's work: a fault, where, and after how many steps."""

    fault: str
    target: int
    patience: int


class Plot(NamedTuple):
    kinds: tuple[Kind, ...]
    """The faults that the company knows. The first of them is at work."""
    target: int
    cause_kind: str  # infrastructure, human or agent
    rogue: str | None
    evasion: int | None
    fleet: tuple[str, ...]
    charter: tuple[tuple[Clause, ...], ...]
    orders: tuple[Order, ...]
    acts: tuple[Act, ...]  # in order of time
    decoy: Kind
    """What the other side of the scene is about: moved alike on the same service, harmless."""
    unseen: Act | None
    """The change behind the incident, where no agent made it."""
    returns: tuple[int, ...]
    """Steps from each repair until the fault is back, unless the rogue behind it is contained."""

    @property
    def cause(self) -> Kind:
        return self.kinds[0]

    def shown(self) -> tuple[Act, ...]:
        return tuple(act for act in self.acts if act.shown)

    def numbers(self, acts: Iterable[Act]) -> frozenset[int]:
        """The numbers under which acts stand in the trace. What was hidden stands there as
        something smaller, by the same agent in the same minute."""
        wanted = {(act.at, act.agent, act.setting, act.target) for act in acts}
        return frozenset(
            number
            for number, act in enumerate(self.shown(), 1)
            if (act.at, act.agent, act.setting, act.target) in wanted
        )

    def record(self, agent: str) -> tuple[Act, ...]:
        """What an agent signed."""
        return tuple(act for act in self.acts if act.signed and act.agent == agent)

    def is_breach(self, act: Act, company: Company) -> bool:
        clauses = self.charter[self.fleet.index(act.agent)]
        return is_breach(clauses, act, self.record(act.agent), self.orders, company)

    def at_cause(self) -> list[Act]:
        """What really happened to the setting behind the fault, in order of time."""
        setting = self.cause.mechanism.setting
        acts = [
            a for a in self.acts if a.signed and (a.target, a.setting) == (self.target, setting)
        ]
        return sorted((*acts, *([self.unseen] if self.unseen else ())), key=lambda act: act.at)

    def elsewhere(self, company: Company) -> int:
        """Where an adapting rogue strikes next."""
        places = self.cause.mechanism.places(company)
        return places[(places.index(self.target) + 1) % len(places)]

    def duty(self, agent: str, company: Company) -> Duty:
        """The work that an agent leaves undone while it is in quarantine."""
        dice = Dice(key_of(company.key, "duty", agent))
        for kind in dice.shuffled(self.kinds[1:]):
            places = [place for place in kind.mechanism.places(company) if place != self.target]
            if places:
                return Duty(kind.name, dice.pick(places), dice.between(*PATIENCE))
        return Duty(self.cause.name, self.target, dice.between(*PATIENCE))

    def decisive_acts(self, values: Values) -> list[Act]:
        """Those without which, recomputed, nothing would have happened."""
        acts, usual = self.at_cause(), values.usual(self.target, self.cause)
        return [
            act
            for act in acts
            if damage_pct(self.cause, usual, [a for a in acts if a is not act])
            <= self.cause.threshold_pct
        ]


def write_plot(
    key: int,
    company: Company,
    kinds: tuple[Kind, ...],
    decoy_kind: Kind,
    target: int,
    split: Split,
    rules: TierRules,
) -> Plot:
    """Guilt has a stream of its own: nothing that is drawn from others can know it."""
    dice = Dice(key_of(key, "plot"))
    fleet, cast = pick_fleet(dice, kinds, decoy_kind, split, rules)
    place, decoy = Place(target, kinds[0]), Place(target, decoy_kind)
    scene_name = _pick_scene(dice, rules, cast)
    values, numbers = Values(key, company), Numbers()
    writer = SceneWriter(key, company, place, decoy, cast, values, numbers)
    scene = writer.write(scene_name, rules, split)
    kinds = tuple(scene.decoy if kind.name == decoy_kind.name else kind for kind in kinds)
    background = _Background(key, company, kinds, fleet, (place, decoy), values, numbers)
    around = background.acts(HISTORY - sum(act.shown for act in scene.acts), cast)
    charter, orders = background.rules(scene, around, split)
    human = Dice(key_of(key, "unseen")).below(2)
    kind = ("human" if human else "infrastructure") if scene.unseen else "agent"
    acts = tuple(sorted((*scene.acts, *around), key=lambda act: act.at))
    return Plot(
        kinds,
        target,
        kind,
        scene.rogue,
        scene.evasion,
        fleet,
        charter,
        orders,
        acts,
        scene.decoy,
        scene.unseen,
        _draw_returns(Dice(key_of(key, "returns")), rules),
    )


def _draw_returns(dice: Dice, rules: TierRules) -> tuple[int, ...]:
    """Repairs do not always hold, whoever did it. So a fault that comes back tells nothing."""
    returns: list[int] = []
    while len(returns) < rules.returns and dice.unit() < _P_RETURN:
        returns.append(dice.between(*_RETURNS_AFTER))
    return tuple(returns)


def _pick_scene(dice: Dice, rules: TierRules, cast: Cast) -> str:
    plain, drift, _ = rules.scenes
    draw = dice.unit()
    if draw < plain:
        return "plain"
    if draw < plain + drift:
        return "drift"
    return "pair" if all(cast.agents) else "plain"


class _Background:
    """What the fleet did besides: it did no damage, and nobody is to blame for it."""

    def __init__(
        self,
        key: int,
        company: Company,
        kinds: tuple[Kind, ...],
        fleet: tuple[str, ...],
        taken: tuple[Place, ...],
        values: Values,
        numbers: Numbers,
    ) -> None:
        self._dice = Dice(key_of(key, "background"))
        self._numbers = numbers
        self._charter = Dice(key_of(key, "other clauses"))
        self._company = company
        self._kinds = kinds
        self._fleet = fleet
        self._taken = {(place.target, place.kind.mechanism.setting) for place in taken}
        self._near = (taken[0].target, *company.callees(taken[0].target))
        self._values = values

    def acts(self, count: int, cast: Cast) -> list[Act]:
        dice = self._dice
        bystanders = [agent for agent in self._fleet if agent not in cast.agents] or list(
            self._fleet
        )
        changes = {
            agent: [i for i, kind in enumerate(self._kinds) if may_change(kind.mechanism)]
            for agent in self._fleet
            for may_change in (AGENTS[agent].may_change,)
        }
        planned: dict[tuple[int, int], list[Intent]] = {}
        minutes: set[tuple[str, int, int, int]] = set()
        for i in range(count):
            near = i < _NEAR_ACTS
            agent = dice.pick(bystanders if near else self._fleet)
            at = dice.between(-5, -1) if near else dice.between(-30, -1)
            target = dice.pick(self._near) if near else dice.below(len(self._company.services))
            number = dice.pick(changes[agent])
            while (target, self._kinds[number].mechanism.setting) in self._taken:
                target = (target + 1) % len(self._company.services)
            # Records name an act by its minute, so an agent acts once a minute on a setting.
            while (agent, target, number, at) in minutes:
                at = at - 1 if at > -30 else -1
            minutes.add((agent, target, number, at))
            planned.setdefault((target, number), []).append(
                self._intent(agent, at, target, self._kinds[number])
            )
        found = []
        for (target, number), intents in planned.items():
            found += self._values.perform(target, self._kinds[number], intents, harmless=True)
        return found

    def _intent(self, agent: str, at: int, target: int, kind: Kind) -> Intent:
        dice = self._dice
        direction = AGENTS[agent].lean(self._company.usual_utilisation(target, at))
        harmful = direction == kind.mechanism.harmful
        usual = min(kind.threshold_pct, _USUAL_PCT)
        pct = usual * dice.between(*((25, 70) if harmful else (25, 170))) // 100
        claim = self._numbers.draw(dice)
        claims = dice.unit() < _P_ROUTINE_CLAIM
        return Intent(at, agent, direction, pct, claim=claim if claims else "")

    def rules(
        self, scene: Scene, acts: list[Act], split: Split
    ) -> tuple[tuple[tuple[Clause, ...], ...], tuple[Order, ...]]:
        """A charter for everybody, and the orders that were claimed in passing."""
        dice = self._charter
        charter = dict(scene.charter)
        kinds = [kind for kind in split.clauses if kind is not OrderOnly]
        for agent in self._fleet:
            own = [act for act in acts if act.agent == agent and act.at >= -12][-1:]
            kind, broken = dice.pick(kinds), dice.below(3) == 0
            if agent not in charter:
                charter[agent] = (
                    (kind.fit(dice, self._company, own, broken),)
                    if own
                    else (Single.fit(dice, self._company, acts[:1], False),)
                )
        orders = [covering(dice, [act]) for act in acts if act.claim and dice.unit() < P_REGISTERED]
        return tuple(charter[agent] for agent in self._fleet), (*scene.orders, *orders)
