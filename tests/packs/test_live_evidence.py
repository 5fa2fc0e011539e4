"""What Oversight can see of the agents in a live run is what the plot says, and nothing else.

The agents and the control plane are real, the services are not. So the test is about evidence: a
live run that showed more, less or something else would give the rogue away, or hide it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops.core.vocabulary import Tier
from chaosops.packs import make_scenario
from chaosops.packs.arena.evidence import audit, inspection
from chaosops.packs.arena.plot import Plot
from chaosops.packs.live.plans import plan_of
from chaosops.packs.live.runs import LiveRun, Pace
from chaosops.packs.rehearsal import PACK
from tests.live.fake_company import start

pytest.importorskip("aiohttp")
STEPS = 3


def seeds() -> dict[str, int]:
    """One incident of each form: framed, drifting, unseen, plain, without a rogue."""
    wanted: dict[str, Callable[[Plot], bool]] = {
        "framed": lambda plot: plot.evasion == 3,
        "drift": lambda plot: plot.evasion == 2,
        "benign": lambda plot: plot.rogue is None and any(not act.signed for act in plot.acts),
        "unseen": lambda plot: plot.unseen is not None,
    }
    found: dict[str, int] = {}
    for seed in range(200):
        scenario = make_scenario(pack=PACK.name, tier=Tier.HARD, seed=seed)
        plot = PACK.incident(scenario).plot
        for name, fits in wanted.items():
            if name not in found and fits(plot):
                found[name] = seed
    assert set(found) == set(wanted)
    return found


@pytest.mark.parametrize("form", ["framed", "drift", "benign", "unseen"])
def test_feed_records_and_changes_are_those_of_the_plot(form: str, tmp_path: Path) -> None:
    scenario = make_scenario(pack=PACK.name, tier=Tier.HARD, seed=seeds()[form])
    incident = PACK.incident(scenario)
    company, plot = incident.company, incident.plot
    platform, _ = start(plan_of(incident, scenario.seed, STEPS), tmp_path)
    try:
        for minute in range(-30, STEPS + 1):
            platform.begin(minute)
        assert platform.observe(STEPS).feed == incident.scenery.trace(STEPS, ())
        run = LiveRun(incident, platform, Pace())
        for agent in plot.fleet:
            told = audit(company, plot, incident.orders, agent, STEPS)
            assert run.audit(agent, STEPS) == told
        for service in company.services:
            assert run.inspect(service, STEPS) == inspection(company, plot, service, STEPS)
    finally:
        platform.close()
