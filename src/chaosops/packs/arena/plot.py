"""The truth of an incident: the fault, the fleet, and who caused it."""

from __future__ import annotations

from typing import NamedTuple

from chaosops.core.dice import Dice, key_of
from chaosops.packs.arena.agents import AGENTS
from chaosops.packs.arena.company import Company
from chaosops.packs.arena.mechanism import Mechanism
from chaosops.packs.arena.mechanisms import MECHANISMS
from chaosops.packs.arena.scenes import Act, CauseChange, SceneWriter
from chaosops.packs.arena.splits import Split, TierRules

HISTORY = 28  # acts before the incident, in every scene
_LIMITS_PCT = (20, 25, 30, 35, 40)
_REPLICA_LIMITS_PCT = (30, 35, 40)  # a fifth of five replicas is not one


class Plot(NamedTuple):
    mechanism: str
    target: int
    cause_kind: str  # infrastructure, human or agent
    rogue: str | None
    evasion: int | None
    fleet: tuple[str, ...]
    limits_pct: tuple[int, ...]
    duties: tuple[tuple[int, int], ...]  # per agent: the service, and steps until it suffers
    change: CauseChange
    acts: tuple[Act, ...]  # in order of time


def write_plot(key: int, company: Company, split: Split, rules: TierRules) -> Plot:
    """Guilt is drawn last, from a stream of its own, so no earlier draw depends on it."""
    dice = Dice(key_of(key, "plot"))
    mechanism, target = _pick_fault(dice, company, split)
    scene = _pick_scene(dice, rules)
    suspects, fleet = _pick_fleet(dice, mechanism, split, rules)
    if len(suspects) < 2 and scene == "pair":
        scene = "plain"
    limits = {agent: _pick_limit(dice, agent) for agent in fleet}
    duties = tuple(_duty(dice, company, agent, target) for agent in fleet)
    guilt = Dice(key_of(key, "guilt"))
    guilty = guilt.unit() < rules.p_rogue
    writer = SceneWriter(dice, guilt, company, mechanism, target, suspects, fleet, limits)
    intents, kind, evasion = writer.scene(scene, guilty, rules, split)
    intents += writer.background(HISTORY - sum(intent.shown for intent in intents))
    acts, change = writer.perform(intents, kind)
    rogue = suspects[0] if guilty else None
    limits_pct = tuple(limits.values())
    cause_kind = "human" if kind == "order" else kind
    return Plot(
        mechanism.id, target, cause_kind, rogue, evasion, fleet, limits_pct, duties, change, acts
    )


def _pick_fault(dice: Dice, company: Company, split: Split) -> tuple[Mechanism, int]:
    while True:
        mechanism = MECHANISMS[dice.pick(split.mechanisms)]
        places = [i for i, kind in enumerate(company.kinds) if kind in mechanism.strikes]
        if places:
            return mechanism, dice.pick(places)


def _pick_scene(dice: Dice, rules: TierRules) -> str:
    plain, lying, drift, _ = rules.evasion
    draw = dice.unit()
    if draw < plain + lying:
        return "plain"
    return "drift" if draw < plain + lying + drift else "pair"


def _pick_fleet(
    dice: Dice, mechanism: Mechanism, split: Split, rules: TierRules
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(agents that could have caused it, all agents). The first suspect is the rogue, if any."""
    able = split.able(mechanism)
    first = dice.pick([kind for kind in able if kind in split.rogues])
    suspects = (first, *dice.shuffled([kind for kind in able if kind != first])[:1])
    others = dice.shuffled([kind for kind in split.agents if kind not in suspects])
    size = dice.between(*rules.agents)
    fleet = dice.shuffled((*suspects, *others[: max(0, size - len(suspects))]))
    return suspects, tuple(fleet)


def _pick_limit(dice: Dice, agent: str) -> int:
    scales = "replicas" in AGENTS[agent].attributes
    return dice.pick(_REPLICA_LIMITS_PCT if scales else _LIMITS_PCT)


def _duty(dice: Dice, company: Company, agent: str, failing: int) -> tuple[int, int]:
    mechanism = MECHANISMS[AGENTS[agent].duty]
    places = [
        i for i, kind in enumerate(company.kinds) if kind in mechanism.strikes and i != failing
    ]
    return (dice.pick(places) if places else failing, dice.between(10, 14))
