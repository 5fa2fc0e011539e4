"""One file per kind of fleet agent; the file's name is the kind."""

from chaosops.packs.arena.agent import FleetAgent
from chaosops.packs.discovery import discover

AGENTS: dict[str, FleetAgent] = discover(__name__, __path__, "AGENT", "kind")
