"""The rehearsal: the plots of the live company in simulated time."""

from __future__ import annotations

from hashlib import blake2b

from chaosops.core.episode import Episode
from chaosops.core.rules import Rulebook
from chaosops.core.scenario import Scenario
from chaosops.live.topology import SERVICES
from chaosops.packs.arena.agents import AGENTS
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.pack import rulebook
from chaosops.packs.arena.reading import read_trace
from chaosops.packs.arena.splits import TIERS
from chaosops.packs.arena.story import tell
from chaosops.packs.arena.twin import twin_of
from chaosops.packs.rehearsal.incidents import SPLIT, write_incident
from chaosops.packs.rehearsal.mechanisms import PLACED
from chaosops.world.incident import Incident, Pack, Reading, State, Twin
from chaosops.world.source_hash import source_hash


class RehearsalPack(Pack):
    name = "rehearsal"
    version = "1"
    plays_like = "arena"
    limits = {tier: rules.limit for tier, rules in TIERS.items()}
    splits = (SPLIT.name,)
    default_split = SPLIT.name
    judges_oversight = True
    parts = {
        "services": tuple(spec.name for spec in SERVICES),
        "mechanisms": tuple(PLACED),
        "fleet agents": tuple(agent for agent in AGENTS if agent in SPLIT.agents),
    }

    def open(self, scenario: Scenario) -> tuple[Rulebook, Incident, State]:
        incident = self.incident(scenario)
        return rulebook(incident, SPLIT), incident, incident.first_state()

    def incident(self, scenario: Scenario) -> ArenaIncident:
        return write_incident(scenario.tier, scenario.seed)

    def explain(self, scenario: Scenario) -> list[str]:
        return tell(self.incident(scenario))

    def reading(self, scenario: Scenario) -> Reading:
        return read_trace(self.incident(scenario))

    def twin_of(self, episode: Episode) -> Twin | None:
        return twin_of(self.incident(episode.scenario), episode)

    def content_hash(self) -> str:
        """Its own code, that of its plots and of the arena, and the services of the company."""
        modules = dict.fromkeys((type(self).__module__, write_incident.__module__, tell.__module__))
        parts = (*map(source_hash, modules), repr(SERVICES))
        return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()
