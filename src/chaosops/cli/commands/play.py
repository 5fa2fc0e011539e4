"""``chaosops play``: a person plays one role."""

from __future__ import annotations

from chaosops.cli.options import PLAYED, ScenarioOptions
from chaosops.cli.output import print
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.registry import load_policy
from chaosops.report.transcript import closing_lines, header_line, turn_line
from chaosops.rollout import Rollout, Team, watch
from chaosops.terminal.human import HumanPolicy


def execute(
    *,
    options: ScenarioOptions = PLAYED,
    role: Role = Role.OVERSIGHT,
    policy: str = "heuristic",
) -> None:
    """
    Args:
        role: your role
        policy: policy of the other roles
    """
    partners = load_policy(policy)
    person = HumanPolicy(input, print)
    policies = {each: person if each == role else partners for each in Role}
    rollout = Rollout(Env(options.chosen()), Team(policies, f"you as {role}, {partners.name}"))
    print(header_line(rollout.episode))
    print(
        "Pick an action by its number or its words, or write it as JSON; 'help' lists them again.\n"
    )
    for turns in watch([rollout]):
        _, turn = turns[0]
        if turn.role == role:
            print(f"    {turn.score.total:+.1f}\n")
    turns_played = map(turn_line, rollout.episode.turns)
    print("\n".join(["\nThe whole episode:", *turns_played, *closing_lines(rollout.episode)]))
