"""What each action on a menu would have been worth: fork the world, act, play the rest out."""

from __future__ import annotations

from chaosops.core.actions import Action, IdentifyRootCause, Talk
from chaosops.core.decision import Decision
from chaosops.env import Env
from chaosops.rollout import Rollout, Team, advance


def counterfactual_returns(env: Env, menu: dict[str, Action], team: Team) -> dict[str, float]:
    """Label -> the reward from here on, if the role on turn did it and ``team`` went on.

    Talk that changes nothing but the chat is tried once where the team does not listen.
    """
    deaf = all(policy.sees_truth for policy in team.policies.values())
    returns: dict[str, float] = {}
    of_talk: float | None = None
    for label, action in menu.items():
        idle = deaf and isinstance(action, Talk) and not isinstance(action, IdentifyRootCause)
        if idle and of_talk is not None:
            returns[label] = of_talk
            continue
        fork = env.fork()
        rollout = Rollout(fork, team)
        first = fork.play(Decision(action))
        rollout.episode.turns.append(first)
        while not fork.over:
            advance([rollout])
        returns[label] = rollout.episode.reward
        if idle:
            of_talk = returns[label]
    return returns
