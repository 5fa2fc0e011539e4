"""Companies of the arena for tests, found by their truth and not by their seed."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, cast

from chaosops.core.telemetry import TraceEntry
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.roles import sight
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


@cache
def framed_case(split: str = "test", tier: str = "hard") -> GuiltyCase:
    """The trace shows too little of the rogue's act, and an act of an innocent agent on the same
    setting that never happened."""
    for seed in range(1000):
        env = Env(make_scenario(pack="arena", split=split, tier=tier, seed=seed))
        plot = cast("ArenaIncident", env.world.truth.incident).plot
        place = (plot.cause.mechanism.setting, plot.target)
        there = [act for act in plot.acts if (act.setting, act.target) == place]
        hidden = [act for act in there if act.signed and not act.shown and act.agent == plot.rogue]
        forged = [act for act in there if not act.signed and act.agent != plot.rogue]
        # A fault that comes back leaves time for two audits.
        if not (hidden and forged and plot.returns):
            continue
        env.step({"action": "noop"})
        in_sight = {
            act.id: act for act in sight.in_sight(project(env.world.public, Role.OVERSIGHT))
        }
        numbers = [*plot.numbers(hidden), *plot.numbers(forged)]
        if all(number in in_sight for number in numbers):
            return GuiltyCase(seed, *(in_sight[number] for number in numbers))
    raise AssertionError("no rogue framed anybody")
