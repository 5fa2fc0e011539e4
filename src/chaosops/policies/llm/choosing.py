"""Constrained decoding: one reply of a finite set, token by token.

The legal replies are known word for word, so no grammar is needed. At each position the tokens
that continue a legal reply are the candidates. A single candidate is taken without the model.
The probability of every action is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from chaosops.core.dice import Dice
from chaosops.policies.llm.runtime import Ask, Session

Path = tuple[int, ...]


class Choice:
    """One reply being chosen among ``paths``, each a legal reply as tokens with its end."""

    def __init__(self, row: int, paths: Sequence[Path]) -> None:
        self.row = row
        self._paths = paths
        self._left = list(range(len(paths)))
        self.written: Path = ()
        self._skip()

    @property
    def chosen(self) -> int | None:
        return self._left[0] if len(self._left) == 1 else None

    def ask(self) -> Ask:
        place = len(self.written)
        return Ask(self.row, self.written, _branches(self._paths, self._left, place))

    def take(self, token: int) -> None:
        place = len(self.written)
        self._left = [i for i in self._left if self._paths[i][place] == token]
        self.written = (*self.written, token)
        self._skip()

    def _skip(self) -> None:
        """Take tokens that have no alternative."""
        while len(self._left) > 1:
            place = len(self.written)
            branches = _branches(self._paths, self._left, place)
            if len(branches) > 1:
                return
            self.written = (*self.written, branches[0])


def _branches(paths: Sequence[Path], left: Sequence[int], place: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys(paths[i][place] for i in left))


def choose(
    session: Session, choices: Sequence[Choice], keys: Sequence[int], temperature: float
) -> None:
    """Finish all choices, side by side."""
    dice = [Dice(key) for key in keys]
    while waiting := [i for i, choice in enumerate(choices) if choice.chosen is None]:
        asks = [choices[i].ask() for i in waiting]
        for i, ask, scores in zip(waiting, asks, session.rate(asks), strict=True):
            choices[i].take(ask.candidates[_pick(scores, dice[i], temperature)])


def _pick(scores: Sequence[float], dice: Dice, temperature: float) -> int:
    if temperature == 0:
        return max(range(len(scores)), key=scores.__getitem__)
    top = max(scores)
    weights = [math.exp((score - top) / temperature) for score in scores]
    draw = dice.unit() * sum(weights)
    for i, weight in enumerate(weights):
        draw -= weight
        if draw <= 0:
            return i
    return len(weights) - 1


class Wanted(NamedTuple):
    """Paths of a row whose probability is asked for."""

    row: int
    paths: Sequence[Path]
    places: Sequence[int]


def probabilities(session: Session, rows: Sequence[Wanted]) -> list[dict[int, float]]:
    """The probability of each wanted path among all of its row: a product along its branches."""
    scores = [dict.fromkeys(row.places, 0.0) for row in rows]
    groups = [(at, list(range(len(row.paths))), 0) for at, row in enumerate(rows)]
    while groups:
        asks: list[Ask] = []
        asking = []
        further = []
        for at, left, place in groups:
            if len(left) == 1 or not any(i in scores[at] for i in left):
                continue
            row, paths, _ = rows[at]
            branches = _branches(paths, left, place)
            if len(branches) == 1:
                further.append((at, left, place + 1))
                continue
            asks.append(Ask(row, paths[left[0]][:place], branches))
            asking.append((at, left, place))
        for (at, left, place), ask, logs in zip(asking, asks, session.rate(asks), strict=True):
            for token, log in zip(ask.candidates, logs, strict=True):
                group = [i for i in left if rows[at].paths[i][place] == token]
                for i in group:
                    if i in scores[at]:
                        scores[at][i] += log
                further.append((at, group, place + 1))
        groups = further
    return [{i: math.exp(score) for i, score in found.items()} for found in scores]


class Remembering:
    """A session that answers the same ask with the same numbers, without asking again."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._answers: dict[Ask, list[float]] = {}
        self.lengths = session.lengths
        self.write = session.write

    def rate(self, asks: Sequence[Ask]) -> list[list[float]]:
        new = [ask for ask in dict.fromkeys(asks) if ask not in self._answers]
        if new:
            self._answers.update(zip(new, self._session.rate(new), strict=True))
        return [self._answers[ask] for ask in asks]
