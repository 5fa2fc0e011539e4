"""``chaosops submit``: play all episodes of a submission. Its owner gets the results."""

from __future__ import annotations

import argparse

from chaosops.cli.output import print
from chaosops.client.submission import play_submission
from chaosops.policies.registry import load_policy


def execute(args: argparse.Namespace) -> int:
    policy = load_policy(args.policy)
    for played, left in play_submission(args.url, args.token, policy, args.seed):
        print(f"{played} played, {left} left", flush=True)
    print("the submission is complete: its owner has the results")
    return 0
