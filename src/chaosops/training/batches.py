"""The batches of a run.

The turns of a window of episodes become batches of prompts of similar length, in random order.
They depend on the recipe, the window and, with continuation ``lookahead``, on the weights at
the start of the window. So a run can resume between windows, and without ``lookahead`` anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, Future
from typing import NamedTuple

from chaosops.core.dice import Dice, key_of
from chaosops.core.errors import BadInput
from chaosops.training.credited_turns import CreditedTurn
from chaosops.training.encoder import encoded_turns
from chaosops.training.learner import Learner
from chaosops.training.lookahead import with_lookahead
from chaosops.training.process_group import ProcessGroup
from chaosops.training.recipe import Recipe


class Position(NamedTuple):
    """Where a run is: updates made, and the window and batch that come next."""

    step: int = 0
    window: int = 0
    batch: int = 0
    began: float = 0.0  # progress of the run, 0 to 1, at the start of this window
    computed: float = 0.0  # and when its turns were computed, one window earlier


class Batch(NamedTuple):
    turns: list[CreditedTurn]
    prompts: list[list[int]]


def progress_at(recipe: Recipe, position: Position) -> float:
    """Progress of the run, 0 to 1, by updates or by episodes, whichever ends it first."""
    share = position.step / recipe.steps
    if recipe.episodes:
        share = max(share, position.window * recipe.window / recipe.episodes)
    return min(share, 1.0)


class BatchStream:
    """Worker processes compute the next window while the learner uses this one."""

    def __init__(
        self, recipe: Recipe, learner: Learner, pool: Executor, group: ProcessGroup
    ) -> None:
        self._recipe = recipe
        self._learner = learner
        self._pool = pool
        self._group = group

    def batches(self, start: Position) -> Iterator[tuple[Position, Position, Batch]]:
        """(position, position after the batch, batch), until the recipe ends the run."""
        at = start
        coming = self._submit(at.window, at.computed)
        while progress_at(self._recipe, at) < 1.0:
            later = self._submit(at.window + 1, at.began)
            batches = self._cut(self._collect(coming), at.window)
            count = self._group.least(len(batches))
            if not count:
                raise BadInput("a window has no turn to learn from: raise window, or role_shares")
            if at.batch >= count:
                raise BadInput(
                    f"the checkpoint is at batch {at.batch} of a window of {count}: resume the run "
                    "with as many processes, and the base, that it was started with"
                )
            for number in range(at.batch, count):
                step = at.step + number - at.batch
                here = at._replace(step=step, batch=number)
                if step == self._recipe.steps:
                    return
                following = here._replace(step=step + 1, batch=number + 1)
                if number + 1 == count:
                    following = Position(step + 1, at.window + 1, 0, 0.0, at.began)
                    following = following._replace(began=progress_at(self._recipe, following))
                yield here, following, batches[number]
            coming = later
            at = following

    def _submit(self, window: int, progress: float) -> list[Future[list[CreditedTurn]]]:
        first, group = window * self._recipe.window, self._group
        indices = range(first + group.rank, first + self._recipe.window, group.size)
        return [
            self._pool.submit(encoded_turns, self._recipe, index, progress) for index in indices
        ]

    def _collect(self, coming: list[Future[list[CreditedTurn]]]) -> list[CreditedTurn]:
        turns = [turn for future in coming for turn in future.result()]
        if self._recipe.continuation == "lookahead":
            return with_lookahead(self._learner, turns)
        return turns

    def _cut(self, turns: list[CreditedTurn], window: int) -> list[Batch]:
        """Prompts of similar length share a batch; the order of the batches is random."""
        dice = Dice(key_of("training order", self._recipe.seed, window))
        batches: list[Batch] = []
        for turn in sorted(dice.shuffled(turns), key=lambda turn: len(turn.prompt)):
            size = len(batches[-1].prompts) + 1 if batches else 0
            if not batches or len(turn.prompt) * size > self._recipe.batch_tokens:
                batches.append(Batch([], []))
            batches[-1].turns.append(turn)
            batches[-1].prompts.append(list(turn.prompt))
        return list(dice.shuffled(batches))
