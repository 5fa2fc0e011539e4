"""What a look, or a word, is worth to whoever may act on it.

The oracle needs nobody to look or to speak, so returns that it finishes pay nothing for
either. Here the one who reads it decides its next turn itself: each of its actions there is
worth what the oracle makes of it, and the learner's own probabilities say which of them it
would take. The worlds are played out ahead of time by anybody; only those probabilities need
the weights.
"""

from __future__ import annotations

from collections.abc import Sequence

from chaosops.training.learner import LABELS, Learner
from chaosops.training.states import State


def value_looks(learner: Learner, states: Sequence[State]) -> list[State]:
    """The states, with each look worth what the learner would make of it."""
    turns = [look.then for state in states for look in state.looks.values() if look.then]
    rows = learner.chances_of([t.prompt for t in turns], [list(t.gains) for t in turns])
    expected = iter(
        sum(row[LABELS.index(label)] * gain for label, gain in turn.gains.items())
        for turn, row in zip(turns, rows, strict=True)
    )
    valued = []
    for state in states:
        gains = dict(state.gains)
        for label, look in state.looks.items():
            gains[label] = look.before + (next(expected) if look.then else 0.0)
        valued.append(state._replace(gains=gains, looks={}))
    return valued
