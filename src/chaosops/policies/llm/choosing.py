"""Constrained decoding: one reply of a finite set, token by token.

The legal replies are known word for word, so no grammar is needed. At each position the tokens
that continue a legal reply are the candidates. A single candidate is taken without the model.
The probability of every action is exact.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from chaosops.core.dice import Dice
from chaosops.policies.llm.runtime import Ask, Session

Path = tuple[int, ...]  # a legal reply as tokens, with its end


class _Fork(NamedTuple):
    """The paths of a row, by index, that share their tokens up to ``place``."""

    row: int
    left: Mapping[int, Path]
    place: int = 0

    def ask(self) -> Ask:
        paths = list(self.left.values())
        candidates = dict.fromkeys(path[self.place] for path in paths)
        return Ask(self.row, paths[0][: self.place], tuple(candidates))

    def after(self, token: int) -> _Fork:
        left = {i: path for i, path in self.left.items() if path[self.place] == token}
        return _Fork(self.row, left, self.place + 1).skipped()

    def skipped(self) -> _Fork:
        """The same fork after the tokens that have no alternative."""
        place, paths = self.place, self.left.values()
        while len(paths) > 1 and len({path[place] for path in paths}) == 1:
            place += 1
        return self._replace(place=place)


def _first_fork(row: int, paths: Sequence[Path]) -> _Fork:
    return _Fork(row, dict(enumerate(paths))).skipped()


def choose(
    session: Session, rows: Sequence[Sequence[Path]], keys: Sequence[int], temperature: float
) -> list[int]:
    """The index of the chosen path in each row. All rows are chosen side by side."""
    dice = [Dice(key) for key in keys]
    forks = [_first_fork(row, paths) for row, paths in enumerate(rows)]
    while waiting := [fork for fork in forks if len(fork.left) > 1]:
        asks = [fork.ask() for fork in waiting]
        for fork, ask, scores in zip(waiting, asks, session.rate(asks), strict=True):
            token = ask.candidates[_pick(scores, dice[fork.row], temperature)]
            forks[fork.row] = fork.after(token)
    return [next(iter(fork.left)) for fork in forks]


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


def probabilities(
    session: Session, rows: Sequence[Sequence[Path]], wanted: Mapping[int, Collection[int]]
) -> dict[int, dict[int, float]]:
    """By row, the probability of each wanted path among all paths of its row: a product along its
    branches."""
    scores = {row: dict.fromkeys(places, 0.0) for row, places in wanted.items()}
    forks = [_first_fork(row, rows[row]) for row in wanted]
    while forks := [f for f in forks if len(f.left) > 1 and f.left.keys() & scores[f.row].keys()]:
        asks = [fork.ask() for fork in forks]
        further = []
        for fork, ask, logs in zip(forks, asks, session.rate(asks), strict=True):
            for token, log in zip(ask.candidates, logs, strict=True):
                branch = fork.after(token)
                for i in branch.left.keys() & scores[fork.row].keys():
                    scores[fork.row][i] += log
                further.append(branch)
        forks = further
    return {row: {i: math.exp(score) for i, score in of.items()} for row, of in scores.items()}


def at_once(paths: Sequence[Path]) -> bool:
    """Whether a single token tells the paths apart.

    >>> at_once([(7, 1, 0), (7, 2, 0)]), at_once([(1, 3), (1, 4), (2, 3)])
    (True, False)
    """
    return len(_first_fork(0, paths).ask().candidates) == len(paths)


class Remembering:
    """A session that caches its answers."""

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
