"""Counterfactual returns: fork the world, act, let a continuation policy play the rest."""

from __future__ import annotations

from chaosops.core.actions import Action, IdentifyRootCause, Talk
from chaosops.core.decision import Decision
from chaosops.env import Env
from chaosops.rollout import Rollout, Team, advance


def counterfactual_returns(env: Env, menu: dict[str, Action], team: Team) -> dict[str, float]:
    """Label -> the counterfactual return of its action, with ``team`` as continuation.

    Messages change only the chat. A team that sees the truth ignores the chat, so all messages
    have one return, which is computed once.
    """
    ignores_chat = all(policy.sees_truth for policy in team.policies.values())
    returns: dict[str, float] = {}
    of_message: float | None = None
    for label, action in menu.items():
        is_message = isinstance(action, Talk) and not isinstance(action, IdentifyRootCause)
        if ignores_chat and is_message and of_message is not None:
            returns[label] = of_message
            continue
        fork = env.fork()
        rollout = Rollout(fork, team)
        first = fork.play(Decision(action))
        rollout.episode.turns.append(first)
        while not fork.over:
            advance([rollout])
        returns[label] = rollout.episode.reward
        if ignores_chat and is_message:
            of_message = returns[label]
    return returns
