"""States from the learner's own play, finished by the learner itself.

The oracle never needs to look, so credit that it finishes teaches nobody to look. Here the
rest of each episode is played by the policy as it is: a look is worth what the policy makes
of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from chaosops.core.actions import Action
from chaosops.core.decision import Decision
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.protocol import Policy
from chaosops.policies.registry import load_policy
from chaosops.roles.menu import menu
from chaosops.roles.prompt import Style, render
from chaosops.rollout import Rollout, Team, advance
from chaosops.rubrics import standard
from chaosops.training.learner import LABELS, Learner
from chaosops.training.player import LearnerPolicy
from chaosops.training.recipe import Recipe, multiplier_at, read_role_shares
from chaosops.training.states import TURNS, State, scenario_of


class _Root(NamedTuple):
    env: Env
    choices: dict[str, Action]


def own_states(
    learner: Learner, recipe: Recipe, indices: Iterable[int], progress: float
) -> list[State]:
    """Every turn of the roles that learn, in episodes that the learner plays by drawing."""
    roots = _roots(learner, recipe, indices, progress)
    team = _team(recipe, LearnerPolicy(learner))
    branches: list[tuple[int, str, Rollout, float]] = []
    for at, root in enumerate(roots):
        for label, action in root.choices.items():
            if action.verb == "communicate":
                continue  # small talk is worth what saying nothing is
            rollout = Rollout(root.env.fork(), team)
            branches.append((at, label, rollout, rollout.env.play(Decision(action)).score.total))
    while live := [rollout for _, _, rollout, _ in branches if not rollout.env.over]:
        advance(live)
    gains: list[dict[str, float]] = [{} for _ in roots]
    for at, label, rollout, first in branches:
        gains[at][label] = first + rollout.episode.reward
    states = []
    for root, worth in zip(roots, gains, strict=True):
        idle = worth[LABELS[0]]
        for label in root.choices:
            worth.setdefault(label, idle)
        view = root.env.view
        chat = tuple(render(view, Style.MENU))
        if len(set(worth.values())) > 1:
            scenario = root.env.scenario
            states.append(State(chat, worth, view.role, scenario.pack, scenario.tier))
    return states


def _roots(
    learner: Learner, recipe: Recipe, indices: Iterable[int], progress: float
) -> list[_Root]:
    shares = read_role_shares(recipe.role_shares)
    team = _team(recipe, LearnerPolicy(learner, draws=True))
    rubric = standard(multiplier_at(recipe, progress))
    scenarios = [scenario_of(recipe, index, progress) for index in indices]
    rollouts = [Rollout(Env(scenario, rubric), team) for scenario in scenarios]
    roots = []
    for _ in range(TURNS):
        live = [rollout for rollout in rollouts if not rollout.env.over]
        if not live:
            break
        roots += [
            _Root(rollout.env.fork(), menu(rollout.env.view))
            for rollout in live
            if shares[rollout.env.role] > 0
        ]
        advance(live)
    return roots


def _team(recipe: Recipe, policy: Policy) -> Team:
    """The learner in the seats that learn; its partners as the recipe says."""
    others = load_policy("oracle") if recipe.partners == "oracle" else policy
    shares = read_role_shares(recipe.role_shares)
    return Team({role: policy if shares[role] > 0 else others for role in Role}, "learner")
