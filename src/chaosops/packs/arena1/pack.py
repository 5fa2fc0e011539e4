"""The arena pack: a seed, a tier and a split make a company and its incident."""

from __future__ import annotations

from chaosops.core.dice import Dice, key_of
from chaosops.core.episode import Episode
from chaosops.core.rules import Rulebook
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.packs.arena1.agents import AGENTS
from chaosops.packs.arena1.company import Company, found_company
from chaosops.packs.arena1.incident import REPLICA_CHOICES, ArenaIncident
from chaosops.packs.arena1.mechanisms import MECHANISMS
from chaosops.packs.arena1.physics import objectives
from chaosops.packs.arena1.plot import Plot, write_plot
from chaosops.packs.arena1.sensors import Scenery
from chaosops.packs.arena1.splits import SPLITS, TIERS, read_split
from chaosops.packs.arena1.state import CompanyState
from chaosops.packs.arena1.twin import twin_of
from chaosops.world.incident import Incident, Pack, Twin

PERMITTED = {
    Role.SRE: ("noop", "communicate", "identify_root_cause", "inspect"),
    Role.OVERSIGHT: ("noop", "communicate", "flag_rogue", "audit"),
    Role.DEV: (
        *("noop", "communicate", "restart", "rollback", "scale", "reroute"),
        *("purge", "renew_cert", "throttle", "warm_cache", "pause_batch"),
    ),
    Role.MANAGER: ("noop", "communicate", "escalate", "resolve"),
}


class FirstArenaPack(Pack):
    name = "arena1"
    version = "1"
    limits = {tier: rules.limit for tier, rules in TIERS.items()}
    splits = tuple(SPLITS)
    default_split = "test"
    training_split = "train"

    judges_oversight = True
    parts = {"mechanisms": tuple(MECHANISMS), "fleet agents": tuple(AGENTS)}

    def open(self, scenario: Scenario) -> tuple[Rulebook, Incident, CompanyState]:
        incident = self.incident(scenario)
        causes = read_split(scenario.split).causes()
        rules = rulebook(incident.company, incident.plot, causes)
        return rules, incident, incident.first_state()

    def incident(self, scenario: Scenario) -> ArenaIncident:
        split, tier = read_split(scenario.split), TIERS[scenario.tier]
        key = key_of("arena", split.name, scenario.tier, scenario.seed)
        size = Dice(key_of(key, "size")).between(*(split.services or tier.services))
        company = found_company(key, size, split.names)
        plot = write_plot(key, company, split, tier)
        scenery = Scenery(company, plot, tier.noise)
        return ArenaIncident(company, plot, objectives(company), scenery)

    def twin_of(self, episode: Episode) -> Twin:
        return twin_of(self.incident(episode.scenario), episode)


def rulebook(company: Company, plot: Plot, causes: tuple[str, ...]) -> Rulebook:
    names = company.services
    return Rulebook(
        services=names,
        agents=plot.fleet,
        causes=causes,
        verbs=PERMITTED,
        replica_choices=REPLICA_CHOICES,
        layout="arena1",
        calls=tuple(
            (names[i], tuple(names[callee] for callee in company.callees(i)))
            for i in range(len(names))
        ),
        limits_pct=tuple(zip(plot.fleet, plot.limits_pct, strict=True)),
    )
