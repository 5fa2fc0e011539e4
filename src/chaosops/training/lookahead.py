"""Continuation ``lookahead``: the learner decides the turn that follows an audit or a message.

The oracle needs no audit and no message, so returns that it completes give them no credit. Here
the role that reads the result takes its next turn by the learner's own probabilities, and the
oracle plays on from there. Worlds are played ahead of time; only the probabilities need the
weights.
"""

from __future__ import annotations

from collections.abc import Sequence

from chaosops.training.credited_turns import CreditedTurn
from chaosops.training.learner import Learner, column_of


def with_lookahead(learner: Learner, turns: Sequence[CreditedTurn]) -> list[CreditedTurn]:
    """The turns, with the expected return of each action that has a follow-up."""
    later = [each.turn for turn in turns for each in turn.follow_ups.values() if each.turn]
    rows = learner.probabilities([t.prompt for t in later], [list(t.returns) for t in later])
    expected = iter(
        sum(row[column_of(label)] * value for label, value in turn.returns.items())
        for turn, row in zip(later, rows, strict=True)
    )
    valued = []
    for turn in turns:
        returns = dict(turn.returns)
        for label, each in turn.follow_ups.items():
            returns[label] = each.reward + (next(expected) if each.turn else 0.0)
        valued.append(turn._replace(returns=returns, follow_ups={}))
    return valued
