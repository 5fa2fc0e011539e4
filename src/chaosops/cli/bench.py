"""``chaosops bench``"""

from __future__ import annotations

import argparse
import json

from chaosops.cli.output import print
from chaosops.evaluation.bench import bench
from chaosops.evaluation.model_bench import bench_model


def execute(args: argparse.Namespace) -> int:
    if args.policy:
        figures = bench_model(args.policy, args.pack or "arena", args.episodes, args.steps)
    else:
        figures = bench(args.seconds, args.pack or "classic")
    if args.json:
        print(json.dumps(figures, indent=1))
    else:
        for name, value in figures.items():
            shown = value if isinstance(value, str) else f"{value:,}"
            print(f"{name:<40}{shown:>14}")
    return 0
