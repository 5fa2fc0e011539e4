"""``chaosops arena show``"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.options import File, Seed, Split, Tier
from chaosops.cli.output import print
from chaosops.core.files import open_file
from chaosops.packs import DEFAULT_SEED, DEFAULT_TIER, make_scenario
from chaosops.packs.arena import PACK
from chaosops.report.company import company_lines, draw_graph, truth_lines
from chaosops.report.figures import require_matplotlib
from chaosops.world import engine


def execute(
    *,
    split: Split = None,
    tier: Tier = DEFAULT_TIER,
    seed: Seed = DEFAULT_SEED,
    truth: bool = False,
    picture: Annotated[File | None, Parameter(metavar="PNG")] = None,
) -> None:
    """
    Args:
        truth: tell who did it and why
        picture: draw the call graph too
    """
    scenario = make_scenario(pack="arena", split=split or None, tier=tier, seed=seed)
    if picture:
        require_matplotlib("leave --picture out")
        open_file(picture, "--picture")
    public = engine.start(PACK, scenario).public
    incident = PACK.incident(scenario)
    lines = company_lines(scenario, public, incident)
    if truth:
        lines += ["", *truth_lines(incident)]
    print("\n".join(lines))
    if picture:
        print(f"\nwritten: {draw_graph(public, incident, picture)}")
