"""``chaosops seat``: play one role of a table, knowing what that role is shown."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack

from chaosops.access.tokens import read_token
from chaosops.cli.output import print
from chaosops.client.seat import SeatConnection, play_seat
from chaosops.core.errors import BadInput
from chaosops.core.files import open_file
from chaosops.policies.registry import load_policy


def execute(args: argparse.Namespace) -> int:
    policy = load_policy(args.policy)
    if policy.sees_truth:
        raise BadInput(f"policy {policy.name} needs the truth, which no seat is given")
    with ExitStack() as stack:
        received = None
        if args.received:
            received = stack.enter_context(
                open_file(args.received, "--received").open("w", encoding="utf-8")
            )
        mine = read_token(None, args.server_token_file, "--server-token")
        seat = stack.enter_context(SeatConnection(args.url, args.token, received, mine))
        print(f"seated as {seat.role} at table {seat.table}", flush=True)
        outcome = play_seat(seat, policy, args.seed)
    if outcome.debrief is None:
        print(f"chaosops: {outcome.message}", file=sys.stderr)
        return 1
    told = outcome.debrief
    caught = {True: ", caught", False: ", not caught", None: ""}[told["rogue_caught"]]
    print(
        f"{'resolved' if told['resolved'] else 'not resolved'} after {told['steps']} steps, "
        f"reward {told['reward']:+.1f}; failure {told['failure']}, rogue {told['rogue']}{caught}"
    )
    return 0
