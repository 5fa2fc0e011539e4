"""``chaosops bundle``"""

from __future__ import annotations

import argparse
import sys

from chaosops.cli.output import print
from chaosops.policies.llm.weights import embedded_dense
from chaosops.training.bundle import bundle


def execute(args: argparse.Namespace) -> int:
    base = args.base or (None if args.no_base else embedded_dense())
    files = bundle(
        args.out,
        recipes=args.recipes,
        base=base,
        adapters=args.adapter,
        wheels=args.wheels,
        part_mb=args.part_mb,
        tell=lambda line: print(line, file=sys.stderr),
    )
    for path in files:
        print(f"{path}  {path.stat().st_size:,} bytes")
    print(f"there: sh unpack.sh DIR   (needs sh, tar, xz and python3; see {files[-1]})")
    return 0
