"""``chaosops play``: a person plays one role."""

from __future__ import annotations

from textwrap import wrap

from chaosops.cli.options import PLAYED, Rewards, ScenarioOptions
from chaosops.cli.output import print
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import load_pack
from chaosops.policies.registry import load_policy
from chaosops.report.transcript import closing_lines, header_line, outcome_words, turn_line
from chaosops.report.wording import worded_episode
from chaosops.rollout import Rollout, Team, watch
from chaosops.rubrics import priced
from chaosops.rubrics.prices import parse_rewards, rewards_line
from chaosops.terminal.company import WIDTH
from chaosops.terminal.human import HumanPolicy
from chaosops.wire.ending import explanation

_POINTS = (
    "You see the points of each of your turns at once, and so whether a flag was right. "
    "A policy never sees them."
)


def execute(
    *,
    options: ScenarioOptions = PLAYED,
    role: Role = Role.OVERSIGHT,
    policy: str = "heuristic",
    rewards: Rewards = "",
) -> None:
    """
    Args:
        role: your role
        policy: policy of the other roles
    """
    partners = load_policy(policy)
    scenario, own_rewards = options.chosen(), parse_rewards(rewards)
    person = HumanPolicy(input, print, load_pack(scenario.pack).wordings)
    policies = {each: person if each == role else partners for each in Role}
    team = Team(policies, f"you as {role}, {partners.name}")
    rollout = Rollout(Env(scenario, priced(own_rewards)), team)
    print(header_line(rollout.episode))
    if own_rewards:
        print(rewards_line(own_rewards))
    person.begin(rollout.env.world.public.rules, role, partners.name, _POINTS)
    for turns in watch([rollout]):
        _, turn = turns[0]
        if turn.role == role:
            outcome = outcome_words(turn)
            person.hear(f"{turn.score.total:+.1f}{outcome and f', {outcome}'}")
    episode = worded_episode(rollout.episode)
    lines = ["\nThe whole episode:", *map(turn_line, episode.turns), *closing_lines(episode)]
    told = explanation(rollout.episode)
    if told:
        lines += ["\nWhat happened:", *(line for text in told for line in wrap(text, WIDTH))]
    print("\n".join(lines))
