from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from chaosops.policies.llm.choosing import Path, Remembering, choose, probabilities
from chaosops.policies.llm.runtime import Ask

END = 0
PATHS: list[Path] = [
    (1, 2, 3, END),
    (1, 2, 4, END),
    (1, 5, END),
    (6, END),
    (6, 6, END),  # begins with another legal reply
]


class Weights:
    """A session whose model likes a token as much as it is told to."""

    lengths = (1, 1)

    def __init__(self, liking: dict[int, float]) -> None:
        self.liking = liking
        self.asked: list[Ask] = []

    def rate(self, asks: Sequence[Ask]) -> list[list[float]]:
        self.asked += asks
        found = []
        for ask in asks:
            weights = [self.liking.get(token, 1.0) for token in ask.candidates]
            found.append([math.log(weight / sum(weights)) for weight in weights])
        return found

    def write(self, row: int, written: tuple[int, ...]) -> str:
        raise NotImplementedError


@pytest.mark.parametrize("wanted", range(len(PATHS)))
def test_the_likeliest_path_is_taken(wanted: int) -> None:
    liking = dict.fromkeys(PATHS[wanted], 50.0)
    if PATHS[wanted][0] == 6:  # here going on and ending compete
        liking |= {3: {6: 20.0}, 4: {END: 20.0}}[wanted]
    assert choose(Weights(liking), [PATHS], [1], 0.0) == [wanted]


def test_tokens_without_an_alternative_are_not_asked_for() -> None:
    session = Weights({})
    choose(session, [[(1, 2, 3, 4, END), (1, 2, 5, 6, END)]], [1], 0.0)
    assert session.asked == [Ask(0, (1, 2), (3, 5))]


def test_probabilities_are_exact_and_sum_to_one() -> None:
    session = Weights({1: 3.0, 3: 9.0})
    found = probabilities(session, [PATHS], {0: range(len(PATHS))})[0]
    assert sum(found.values()) == pytest.approx(1.0)
    assert found[0] == pytest.approx(3 / 4 * 1 / 2 * 9 / 10)
    assert found[4] == pytest.approx(1 / 4 * 1 / 2)


def test_only_what_is_wanted_is_explored() -> None:
    session = Weights({})
    probabilities(session, [PATHS], {0: [3]})
    assert [ask.written for ask in session.asked] == [(), (6,)]


def test_sampling_follows_the_probabilities_and_the_key_alone() -> None:
    def draws() -> list[int]:
        return choose(Weights({1: 3.0}), [PATHS] * 4000, range(4000), 1.0)

    first = draws()
    assert first == draws()
    assert first.count(2) / 4000 == pytest.approx(3 / 4 * 1 / 2, abs=0.03)


def test_the_same_ask_is_answered_once() -> None:
    session = Weights({})
    remembering = Remembering(session)
    ask = Ask(0, (), (1, 6))
    assert remembering.rate([ask, ask]) == remembering.rate([ask]) * 2
    assert session.asked == [ask]
