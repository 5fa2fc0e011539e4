"""Judge a policy on the validation slice of ``train`` (seeds no run trains on) and on classic.

python experiments/judge.py --seeds 200 POLICY...
"""

from __future__ import annotations

import argparse
import json
import time

from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.judge import judge_monitors
from chaosops.evaluation.matrix import scenarios
from chaosops.report.tables import markdown_table

VALIDATION = 2_000_000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("policies", nargs="+")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--tiers", default="easy,medium,hard")
    parser.add_argument("--no-classic", action="store_true")
    args = parser.parse_args()
    from chaosops.core.vocabulary import Tier

    tiers = [Tier(name) for name in args.tiers.split(",")]
    for policy in args.policies:
        start = time.time()
        arena = scenarios(
            pack="arena", split="train", tiers=tiers, seeds=args.seeds, seed_start=VALIDATION
        )
        results = evaluate([policy], arena, side_by_side=512)
        print(markdown_table(results.summary()))
        for row in judge_monitors(results).summary:
            print(json.dumps(row, default=str)[:900])
        if not args.no_classic:
            results = evaluate([policy], scenarios("published"), side_by_side=512)
            print(markdown_table(results.summary()))
        print(f"{time.time() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
