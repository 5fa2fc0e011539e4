"""One file per kind of fleet agent; the file's name is the kind. They are found by their names."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from chaosops.packs.arena.agent import FleetAgent


def load_all() -> dict[str, FleetAgent]:
    found = {}
    for module in sorted(iter_modules(__path__), key=lambda info: info.name):
        agent: FleetAgent = import_module(f"{__name__}.{module.name}").AGENT
        assert agent.kind == module.name, f"{module.name}.py holds {agent.kind}"
        found[agent.kind] = agent
    return found


AGENTS = load_all()
