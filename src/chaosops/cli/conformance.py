"""``chaosops conformance``"""

from __future__ import annotations

import argparse

from chaosops.cli.output import print
from chaosops.evaluation.conformance import read_vectors, replay

_SHOWN = 20


def execute(args: argparse.Namespace) -> int:
    # Read everything first: a broken line must not hide behind a half-printed comparison.
    vectors = [item for path in args.files for item in read_vectors(path)]
    matched = shown = 0
    for where, vector in vectors:
        problems = replay(where, vector)
        if not problems:
            matched += 1
        elif shown < _SHOWN:
            shown += 1
            print(f"{where} {vector.get('id', '')}: {'; '.join(problems)}")
    missed = len(vectors) - matched
    if missed > shown:
        print(f"and {missed - shown} more")
    print(f"matched {matched} of {len(vectors)}")
    return 1 if missed else 0
