"""``chaosops bench``"""

from __future__ import annotations

import argparse
import json

from chaosops.evaluation.bench import bench


def execute(args: argparse.Namespace) -> int:
    figures = bench(args.seconds, args.pack)
    if args.json:
        print(json.dumps(figures, indent=1))
    else:
        for name, value in figures.items():
            print(
                f"{name:<36}{value:>14,}"
                if not isinstance(value, str)
                else f"{name:<36}{value:>14}"
            )
    return 0
