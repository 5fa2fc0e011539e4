"""The arena pack: a seed, a tier and a split make a company, its documents and its incident."""

from __future__ import annotations

from pathlib import Path

from chaosops.core.dice import Dice, key_of
from chaosops.core.documents import Clauses
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.rules import Rulebook
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.packs.arena.acts import Values
from chaosops.packs.arena.agents import AGENTS
from chaosops.packs.arena.casting import is_castable
from chaosops.packs.arena.company import Company, found_company
from chaosops.packs.arena.incident import REPLICA_CHOICES, ArenaIncident
from chaosops.packs.arena.mechanism import Mechanism
from chaosops.packs.arena.mechanisms import MECHANISMS
from chaosops.packs.arena.own_faults import in_file, parse_mechanisms, read_mechanisms
from chaosops.packs.arena.physics import objectives
from chaosops.packs.arena.plot import write_plot
from chaosops.packs.arena.reading import read_trace
from chaosops.packs.arena.runbook import Kind, draw_runbook, write_page
from chaosops.packs.arena.scenery import Scenery
from chaosops.packs.arena.splits import SPLITS, TIERS, Split, read_split
from chaosops.packs.arena.state import CompanyState
from chaosops.packs.arena.story import tell
from chaosops.packs.arena.twin import twin_of
from chaosops.packs.arena.wordings import Writer
from chaosops.world.incident import Incident, Pack, Reading, Twin

_ATTEMPTS = 1000

VERBS = {
    Role.SRE: ("noop", "communicate", "identify_root_cause", "inspect"),
    Role.OVERSIGHT: ("noop", "communicate", "flag_rogue", "audit"),
    Role.DEV: (
        *("noop", "communicate", "restart", "rollback", "scale", "reroute"),
        *("purge", "renew_cert", "throttle", "warm_cache", "pause_batch"),
    ),
    Role.MANAGER: ("noop", "communicate", "escalate", "resolve"),
}


class ArenaPack(Pack):
    name = "arena"
    version = "2"
    limits = {tier: rules.limit for tier, rules in TIERS.items()}
    splits = tuple(SPLITS)
    default_split = "test"
    training_split = "train"
    more_training_splits = ("train_wide",)
    reserve_split = "reserve"
    added_split = "extra"

    judges_oversight = True
    parts = {"mechanisms": tuple(MECHANISMS), "fleet agents": tuple(AGENTS)}

    def open(self, scenario: Scenario) -> tuple[Rulebook, Incident, CompanyState]:
        try:
            incident = self.incident(scenario)
            state = incident.first_state()
        except BadInput as error:  # faults of the user's own do not fit this company
            raise BadInput(in_file(scenario.mechanisms, error)) from None
        return rulebook(incident, read_split(scenario.split)), incident, state

    def incident(self, scenario: Scenario) -> ArenaIncident:
        split, tier = read_split(scenario.split), TIERS[scenario.tier]
        key = key_of("arena 2", split.name, scenario.tier, scenario.seed)
        size = Dice(key_of(key, "size")).between(*(split.services or tier.services))
        own = parse_mechanisms(scenario.mechanisms) if scenario.mechanisms else ()
        company, kinds, decoy, target = _pick_fault(key, size, split, own)
        plot = write_plot(key, company, kinds, decoy, target, split, tier)
        orders = Writer(split.wordings, Dice(key_of(key, "wording of orders")))
        clauses = Writer(split.wordings, Dice(key_of(key, "wording of clauses")))
        return ArenaIncident(
            company,
            plot,
            objectives(company),
            Scenery(company, plot, tier.noise),
            {kind.name: kind.mechanism for kind in plot.kinds},
            {
                agent: tuple(clause.text(clauses, company) for clause in rules)
                for agent, rules in zip(plot.fleet, plot.charter, strict=True)
            },
            {order.number: order.text(orders, company.services) for order in plot.orders},
            tuple(plot.decisive_acts(Values(key, company))),
        )

    def read_mechanisms(self, source: str | Path) -> str:
        if isinstance(source, Path):
            return read_mechanisms(source)
        parse_mechanisms(source)
        return source

    def explain(self, scenario: Scenario) -> list[str]:
        return tell(self.incident(scenario))

    def reading(self, scenario: Scenario) -> Reading:
        return read_trace(self.incident(scenario))

    def twin_of(self, episode: Episode) -> Twin:
        return twin_of(self.incident(episode.scenario), episode)


def _pick_fault(
    key: int, size: int, split: Split, own: tuple[Mechanism, ...]
) -> tuple[Company, tuple[Kind, ...], Kind, int]:
    """A company, its runbook, the kind of fault that the decoy is about, and where the fault on
    the first page strikes."""
    for attempt in range(_ATTEMPTS):
        dice = Dice(key_of(key, "runbook", attempt))
        kinds = draw_runbook(dice, split, own)
        alone = own or len(split.mechanisms) < 2
        decoys = [kind for kind in kinds[1:] if alone or split.may_strike(kind.name)]
        # Each could have been the other, there where both can strike. So who has learned by heart
        # what a setting does, and where, knows no more.
        decoy = dice.pick(decoys) if decoys else None
        if decoy is None or not (alone or is_castable(kinds[0], decoy, split)):
            continue
        company = found_company(key, size, split.names, attempt)
        places = kinds[0].mechanism.places(company)
        both = [place for place in places if place in decoy.mechanism.places(company)]
        apart = not {*kinds[0].mechanism.strikes} & {*decoy.mechanism.strikes}
        if places and (both or apart or alone):
            return company, kinds, decoy, dice.pick(both or places)
    names = ", ".join(repr(one.id) for one in own)
    raise BadInput(
        f"mechanism {names}: no company of {size} services in split {split.name} has a place for "
        "it; add kinds of services to 'strikes', or choose another tier"
    )


def rulebook(incident: ArenaIncident, split: Split) -> Rulebook:
    """The names in a company, and its documents in an order of their own."""
    company, plot = incident.company, incident.plot
    names, key = company.services, company.key
    pages = Writer(split.wordings, Dice(key_of(key, "wording of pages")))
    runbook = [write_page(pages, kind) for kind in plot.kinds]
    runbook = Dice(key_of(key, "order of pages")).shuffled(runbook)
    charter = [Clauses(agent, "; ".join(texts)) for agent, texts in incident.clauses.items()]
    return Rulebook(
        services=names,
        agents=plot.fleet,
        causes=tuple(page.name for page in runbook),
        verbs=VERBS,
        replica_choices=REPLICA_CHOICES,
        layout="arena",
        calls=tuple(
            (names[i], tuple(names[callee] for callee in company.callees(i)))
            for i in range(len(names))
        ),
        runbook=tuple(runbook),
        charter=tuple(Dice(key_of(key, "order of clauses")).shuffled(charter)),
        menus_key=key_of(key, "labels"),
    )
