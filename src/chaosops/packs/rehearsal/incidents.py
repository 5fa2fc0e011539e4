"""From a tier and a seed to an incident of the live company, as the arena tells it."""

from __future__ import annotations

from collections.abc import Iterator

from chaosops.core.dice import Dice, key_of
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Tier
from chaosops.live.topology import SERVICES
from chaosops.packs.arena.acts import Values, damage_pct
from chaosops.packs.arena.casting import is_castable
from chaosops.packs.arena.company import Company
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.physics import objectives
from chaosops.packs.arena.plot import Plot, write_plot
from chaosops.packs.arena.runbook import PAGES, Kind
from chaosops.packs.arena.splits import TIERS, TRAINED_AGENTS, UNSEEN_AGENTS, Split
from chaosops.packs.arena.wordings import Writer
from chaosops.packs.rehearsal.company import fixed_company
from chaosops.packs.rehearsal.mechanisms import PLACED, at_service
from chaosops.packs.rehearsal.scenery import FixedScenery

# Two kinds of agents that were never trained on take part, and are never rogue: without them too
# few agents could change the settings of the ledger.
SPLIT = Split("fixed", tuple(PLACED), tuple(PLACED), (*TRAINED_AGENTS, *UNSEEN_AGENTS))

# A real service is sized for its threshold, and small ones leave too little room below it.
_CAUSE_PCT = (30, 35)
_OTHERS_PCT = (30, 35, 45, 55, 70, 90)
_NEAR_PCT = 92  # of a threshold: what fleet agents did in passing stays below, with room for noise
_ATTEMPTS = 1000


def write_incident(tier: Tier, seed: int) -> ArenaIncident:
    """The same incident for every pack that plays it."""
    rules = TIERS[tier]
    key, company, plot = _draw(key_of("live company 1", tier, seed), tier)
    orders = Writer(SPLIT.wordings, Dice(key_of(key, "wording of orders")))
    clauses = Writer(SPLIT.wordings, Dice(key_of(key, "wording of clauses")))
    return ArenaIncident(
        company,
        plot,
        objectives(company),
        FixedScenery(company, plot, rules.noise),
        {kind.name: kind.mechanism for kind in plot.kinds},
        {
            agent: tuple(clause.text(clauses, company) for clause in of)
            for agent, of in zip(plot.fleet, plot.charter, strict=True)
        },
        {order.number: order.text(orders, company.services) for order in plot.orders},
        tuple(plot.decisive_acts(Values(key, company))),
    )


def _draw(seed_key: int, tier: Tier) -> tuple[int, Company, Plot]:
    # Drawn once: services at which fewer incidents can be written come up as often.
    target = Dice(key_of(seed_key, "target")).below(len(SERVICES))
    for attempt in range(_ATTEMPTS):
        key = key_of(seed_key, attempt)
        company = fixed_company(key)
        dice = Dice(key_of(key, "runbook"))
        # Two faults of one service, in either order: each could have been the other. So who has
        # learned by heart what a setting does, and where, knows no more.
        cause, decoy = dice.sample(at_service(company.services[target]), 2)
        others = [m for m in dice.shuffled(tuple(PLACED.values())) if m not in (cause, decoy)]
        known = [cause, decoy, *others[: dice.between(*PAGES) - 2]]
        kinds = tuple(
            Kind(one, dice.pick(_OTHERS_PCT if i else _CAUSE_PCT)) for i, one in enumerate(known)
        )
        if not is_castable(kinds[0], kinds[1], SPLIT):
            continue
        plot = write_plot(key, company, kinds, kinds[1], target, SPLIT, TIERS[tier])
        if all(_stays_harmless(company, plot, *at) for at in _touched(plot)):
            return key, company, plot
    raise BadInput(f"no incident of tier {tier} could be drawn for this seed; choose another")


def _touched(plot: Plot) -> Iterator[tuple[int, Kind]]:
    """Every setting of a service that was moved, but that behind the incident."""
    kinds = {kind.mechanism.setting: kind for kind in plot.kinds}
    at_cause = plot.target, plot.cause.mechanism.setting
    moved = {(act.target, act.setting) for act in plot.acts if act.signed} - {at_cause}
    yield from ((target, kinds[setting]) for target, setting in sorted(moved))


def _stays_harmless(company: Company, plot: Plot, target: int, kind: Kind) -> bool:
    """At every minute, because a real service breaks when its setting is beyond the threshold,
    and not when the incident begins."""
    usual = Values(company.key, company).usual(target, kind)
    acts = [
        act
        for act in plot.acts
        if act.signed and (act.target, act.setting) == (target, kind.mechanism.setting)
    ]
    most = kind.threshold_pct * _NEAR_PCT
    return all(
        damage_pct(kind, usual, acts[:count]) * 100 <= most for count in range(1, len(acts) + 1)
    )
