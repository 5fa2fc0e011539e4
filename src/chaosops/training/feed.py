"""What a run learns from, batch by batch.

A window of episodes becomes states, the states become batches of like length in a drawn
order. Everything is a function of the recipe, the window and the weights at its beginning, so
a run can be taken up again at a window's edge, and where the weights play no part, anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, Future
from typing import NamedTuple

from chaosops.core.dice import Dice, key_of
from chaosops.core.errors import BadInput
from chaosops.training.encoder import read_states_of
from chaosops.training.learner import Learner
from chaosops.training.lookahead import value_looks
from chaosops.training.ranks import Ranks
from chaosops.training.recipe import Recipe
from chaosops.training.states import State


class Position(NamedTuple):
    """Where a run is: updates made, and the window and batch that come next."""

    step: int = 0
    window: int = 0
    batch: int = 0
    began: float = 0.0  # through the run when this window was begun, 0 to 1
    computed: float = 0.0  # and when its states were computed: one window earlier


class Batch(NamedTuple):
    states: list[State]
    prompts: list[list[int]]


def through(recipe: Recipe, position: Position) -> float:
    """How far the run is, 0 to 1, by updates or by episodes, whichever ends it first."""
    share = position.step / recipe.steps
    if recipe.episodes:
        share = max(share, position.window * recipe.window / recipe.episodes)
    return min(share, 1.0)


def depends_on_weights(recipe: Recipe) -> bool:
    return recipe.continuation == "lookahead"


class Feed:
    """Workers compute the next window while this one is learned."""

    def __init__(self, recipe: Recipe, learner: Learner, pool: Executor, ranks: Ranks) -> None:
        self._recipe = recipe
        self._learner = learner
        self._pool = pool
        self._ranks = ranks

    def batches(self, start: Position) -> Iterator[tuple[Position, Position, Batch]]:
        """(where we are, where we are after it, the batch), until the recipe ends it."""
        at = start
        coming = self._order(at.window, at.computed)
        while through(self._recipe, at) < 1.0:
            later = self._order(at.window + 1, at.began)
            batches = self._cut(self._states(coming), at.window)
            count = self._ranks.least(len(batches))
            if not count:
                raise BadInput("a window without a single lesson: raise window, or role_shares")
            if at.batch >= count:
                raise BadInput(
                    f"the checkpoint stands at batch {at.batch} of a window of {count}: resume the "
                    "run on as many processes, and with the base, that it was begun with"
                )
            for number in range(at.batch, count):
                step = at.step + number - at.batch
                here = at._replace(step=step, batch=number)
                if step == self._recipe.steps:
                    return
                following = here._replace(step=step + 1, batch=number + 1)
                if number + 1 == count:
                    following = Position(step + 1, at.window + 1, 0, 0.0, at.began)
                    following = following._replace(began=through(self._recipe, following))
                yield here, following, batches[number]
            coming = later
            at = following

    def _indices(self, window: int) -> range:
        first, ranks = window * self._recipe.window, self._ranks
        return range(first + ranks.rank, first + self._recipe.window, ranks.size)

    def _order(self, window: int, progress: float) -> list[Future[list[State]]]:
        return [
            self._pool.submit(read_states_of, self._recipe, index, progress)
            for index in self._indices(window)
        ]

    def _states(self, coming: list[Future[list[State]]]) -> list[State]:
        states = [state for future in coming for state in future.result()]
        if self._recipe.continuation == "lookahead":
            return value_looks(self._learner, states)
        return states

    def _cut(self, states: list[State], window: int) -> list[Batch]:
        """Prompts of like length share a batch; batches come in a drawn order."""
        dice = Dice(key_of("training order", self._recipe.seed, window))
        batches: list[Batch] = []
        for state in sorted(dice.shuffled(states), key=lambda state: len(state.prompt)):
            size = len(batches[-1].prompts) + 1 if batches else 0
            if not batches or len(state.prompt) * size > self._recipe.batch_tokens:
                batches.append(Batch([], []))
            batches[-1].states.append(state)
            batches[-1].prompts.append(list(state.prompt))
        return list(dice.shuffled(batches))
