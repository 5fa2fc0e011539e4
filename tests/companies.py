"""Companies of the arena for tests, found by their truth and not by their seed."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from chaosops.core.telemetry import TraceEntry
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.roles.layouts import layout_of
from chaosops.roles.view import project


class GuiltyCase(NamedTuple):
    seed: int
    act: TraceEntry
    """Of the rogue, in sight of Oversight on its first turn, and decisive."""
    innocent: TraceEntry
    """Of another agent, in sight as well."""


@cache
def guilty_case(split: str = "test", tier: str = "hard") -> GuiltyCase:
    for seed in range(200):
        env = Env(make_scenario(pack="arena", split=split, tier=tier, seed=seed))
        incident = env.world.truth.incident
        if incident.rogue is None:
            continue
        env.step({"action": "noop"})
        view = project(env.world.public, Role.OVERSIGHT)
        in_sight = layout_of(view.rules).in_sight
        assert in_sight is not None
        acts = in_sight(view)
        decisive = [act for act in acts if act.id in incident.decisive_entries()]
        others = [act for act in acts if act.agent != incident.rogue]
        if decisive and decisive[-1].agent == incident.rogue and others:
            return GuiltyCase(seed, decisive[-1], others[-1])
    raise AssertionError("no rogue did anything in sight")
