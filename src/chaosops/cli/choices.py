"""What the commands that play a single episode have in common."""

from __future__ import annotations

import argparse

from chaosops.core.scenario import BY_HAND_LIMIT, Scenario
from chaosops.packs import load_pack, make_scenario


def chosen_scenario(args: argparse.Namespace) -> Scenario:
    has_splits = bool(load_pack(args.pack).splits)
    return make_scenario(
        args.scenario or ("" if has_splits else "autoscaler_cost_cut"),
        tier=args.tier,
        seed=args.seed,
        limit=args.max_steps or (None if has_splits else BY_HAND_LIMIT),
        pack=args.pack,
        split=args.split or ("train" if has_splits else ""),
    )
