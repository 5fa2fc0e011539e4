"""What the commands that play a single episode have in common."""

from __future__ import annotations

import argparse

from chaosops.core.scenario import Scenario
from chaosops.packs import make_scenario


def chosen_scenario(args: argparse.Namespace) -> Scenario:
    return make_scenario(
        args.scenario,
        tier=args.tier,
        seed=args.seed,
        limit=args.max_steps,
        pack=args.pack,
        split=args.split,
    )
