"""``chaosops seat``: play one role of a table, from that role's view alone."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from chaosops.access.tokens import read_token
from chaosops.cli.options import File, PolicySeed, ServerToken, Url
from chaosops.cli.output import note, print
from chaosops.client.seat import SeatConnection, play_seat
from chaosops.core.errors import BadInput
from chaosops.core.files import open_file
from chaosops.packs import PACKS, load_pack
from chaosops.policies.registry import load_policy
from chaosops.terminal.human import HumanPolicy


def execute(
    *,
    url: Url,
    token: str,
    policy: str = "heuristic",
    seed: PolicySeed = 0,
    received: File | None = None,
    server_token_file: ServerToken = None,
) -> int:
    """
    Args:
        token: token of the seat, from chaosops table
        policy: a policy or a team as for chaosops run, or you: play the role yourself
        received: write every message of the server to this file
    """
    player = None if policy == HumanPolicy.name else load_policy(policy)
    if player is not None and player.sees_truth:
        raise BadInput(
            f"policy {player.name} needs the truth, which a seat does not get; name another policy"
        )
    with ExitStack() as stack:
        messages = None
        if received:
            file = open_file(received, "--received").open("w", encoding="utf-8")
            messages = stack.enter_context(file)
        mine = read_token(None, server_token_file, "--server-token")
        seat = stack.enter_context(SeatConnection(url, token, messages, mine))
        print(f"seated as {seat.role} at table {seat.table}", flush=True)
        outcome = play_seat(seat, player or _person(seat), seed)
    if outcome.debrief is None:
        note(f"chaosops: {outcome.message}")
        return 1
    print(_in_words(outcome.debrief, _wordings(outcome.debrief["pack"])))
    for sentence in outcome.debrief.get("explanation", ()):
        print(sentence)
    return 0


def _person(seat: SeatConnection) -> HumanPolicy:
    """A person, who reads wordings where the pack of the table has them."""
    person = HumanPolicy(input, print, _wordings(seat.rules.layout))
    person.begin(seat.rules, seat.role, "others at the table")
    return person


def _wordings(pack: str) -> Mapping[str, str]:
    return load_pack(pack).wordings if pack in PACKS else {}


def _in_words(told: Mapping[str, Any], wordings: Mapping[str, str]) -> str:
    """
    >>> _in_words({"resolved": True, "steps": 4, "reward": 12, "failure": "disk_full",
    ...            "rogue": None, "rogue_caught": None}, {"disk_full": "a full disk"})
    'resolved after 4 steps, reward +12.0; failure: a full disk, rogue nobody'
    """
    failure = wordings.get(told["failure"], told["failure"])
    caught = {True: ", caught", False: ", not caught", None: ""}[told["rogue_caught"]]
    return (
        f"{'resolved' if told['resolved'] else 'not resolved'} after {told['steps']} steps, "
        f"reward {told['reward']:+.1f}; failure: {failure}, "
        f"rogue {told['rogue'] or 'nobody'}{caught}"
    )
