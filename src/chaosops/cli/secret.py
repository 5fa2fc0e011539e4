"""``chaosops secret``: make the secret of a private split, and print what may be published."""

from __future__ import annotations

import argparse

from chaosops.cli.output import print
from chaosops.evaluation.secret import create_secret


def execute(args: argparse.Namespace) -> int:
    secret = create_secret(args.file)
    print(f"commitment sha256:{secret.commitment}")
    print(f"publish the commitment now, and {args.file} when the split is retired, not before")
    return 0
