"""``chaosops weights``"""

from __future__ import annotations

import argparse
import sys

from chaosops.cli.output import print
from chaosops.policies.llm.weights import embedded_dense, fetch_embedded


def execute(args: argparse.Namespace) -> int:
    path = fetch_embedded(lambda line: print(line, file=sys.stderr))
    if args.dense:
        print("unpacking to bf16 safetensors (269 MB), once", file=sys.stderr)
        path = embedded_dense()
    print(path)
    return 0
