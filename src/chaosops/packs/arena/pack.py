"""The arena pack: a seed, a tier and a split make a company, its documents and its incident."""

from __future__ import annotations

from chaosops.core.dice import Dice, key_of
from chaosops.core.documents import Clauses
from chaosops.core.episode import Episode
from chaosops.core.rules import Rulebook
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.packs.arena.acts import Act, Values
from chaosops.packs.arena.agents import AGENTS
from chaosops.packs.arena.company import Company, found_company
from chaosops.packs.arena.incident import REPLICA_CHOICES, ArenaIncident
from chaosops.packs.arena.mechanisms import MECHANISMS
from chaosops.packs.arena.physics import objectives
from chaosops.packs.arena.plot import Plot, write_plot
from chaosops.packs.arena.runbook import Kind, draw_runbook, write_page
from chaosops.packs.arena.scenery import Scenery
from chaosops.packs.arena.splits import SPLITS, TIERS, Split, read_split
from chaosops.packs.arena.state import CompanyState
from chaosops.packs.arena.twin import twin_of
from chaosops.packs.arena.wordings import Writer
from chaosops.world.incident import Incident, Pack, Twin

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

    judges_oversight = True
    parts = {"mechanisms": tuple(MECHANISMS), "fleet agents": tuple(AGENTS)}

    def open(self, scenario: Scenario) -> tuple[Rulebook, Incident, CompanyState]:
        incident = self.incident(scenario)
        rules = rulebook(incident, read_split(scenario.split))
        return rules, incident, incident.first_state()

    def incident(self, scenario: Scenario) -> ArenaIncident:
        split, tier = read_split(scenario.split), TIERS[scenario.tier]
        key = key_of("arena 2", split.name, scenario.tier, scenario.seed)
        size = Dice(key_of(key, "size")).between(*(split.services or tier.services))
        company = found_company(key, size, split.names)
        kinds, target = _pick_fault(key, company, split)
        plot = write_plot(key, company, kinds, target, split, tier)
        writer = Writer(split.wordings, Dice(key_of(key, "wording of orders")))
        return ArenaIncident(
            company,
            plot,
            objectives(company),
            Scenery(company, plot, tier.noise),
            {kind.name: kind.mechanism for kind in plot.kinds},
            {order.number: order.text(writer, company.services) for order in plot.orders},
            _entries(plot, [act for act in plot.acts if act.guilty]),
            _entries(plot, plot.decisive_acts(Values(key, company)) if plot.rogue else []),
        )

    def twin_of(self, episode: Episode) -> Twin:
        return twin_of(self.incident(episode.scenario), episode)


def _pick_fault(key: int, company: Company, split: Split) -> tuple[tuple[Kind, ...], int]:
    """A runbook whose first page can be at work in this company, and where it is."""
    for attempt in range(1000):
        dice = Dice(key_of(key, "runbook", attempt))
        kinds = draw_runbook(dice, split, ())
        places = kinds[0].mechanism.places(company)
        if places:
            return kinds, dice.pick(places)
    raise AssertionError("some fault fits every company")


def _entries(plot: Plot, acts: list[Act]) -> frozenset[int]:
    """The numbers under which acts stand in the trace. What was hidden stands there as
    something smaller, by the same agent in the same minute."""
    wanted = {(act.at, act.agent, act.setting, act.target) for act in acts}
    return frozenset(
        number
        for number, act in enumerate(plot.shown(), 1)
        if (act.at, act.agent, act.setting, act.target) in wanted
    )


def rulebook(incident: ArenaIncident, split: Split) -> Rulebook:
    """The names in a company, and its documents in an order of their own."""
    company, plot = incident.company, incident.plot
    names, key = company.services, company.key
    pages = Writer(split.wordings, Dice(key_of(key, "wording of pages")))
    clauses = Writer(split.wordings, Dice(key_of(key, "wording of clauses")))
    runbook = [write_page(pages, kind) for kind in plot.kinds]
    runbook = Dice(key_of(key, "order of pages")).shuffled(runbook)
    charter = [
        Clauses(agent, "; ".join(clause.text(clauses, company) for clause in rules))
        for agent, rules in zip(plot.fleet, plot.charter, strict=True)
    ]
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
        labels=key_of(key, "labels"),
    )
