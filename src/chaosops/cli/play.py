"""``chaosops play``: a person takes one seat."""

from __future__ import annotations

import argparse

from chaosops.cli.choices import chosen_scenario
from chaosops.cli.output import print
from chaosops.core.errors import UnknownName
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.registry import load_policy
from chaosops.report.transcript import closing_lines, header_line, turn_line
from chaosops.rollout import Rollout, Team, watch
from chaosops.terminal.human import HumanPolicy


def execute(args: argparse.Namespace) -> int:
    try:
        role = Role(args.role)
    except ValueError:
        raise UnknownName("role", args.role, [role.value for role in Role]) from None
    partners = load_policy(args.policy)
    person = HumanPolicy(input, print)
    seats = {seat: person if seat is role else partners for seat in Role}
    rollout = Rollout(Env(chosen_scenario(args)), Team(seats, f"you as {role}, {partners.name}"))
    print(header_line(rollout.episode))
    print(
        "Pick an action by its number or its words, or write it as JSON; 'help' lists them again.\n"
    )
    for turns in watch([rollout]):
        _, turn = turns[0]
        if turn.role is role:
            print(f"    {turn.score.total:+.1f}\n")
    print("\nThe whole episode:")
    for turn in rollout.episode.turns:
        print(turn_line(turn))
    print("\n".join(closing_lines(rollout.episode)))
    return 0
