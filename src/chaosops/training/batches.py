"""The batches of a run.

The turns of a window of episodes become batches of prompts of similar length, in random order.
They depend on the recipe, the window and, with continuation ``lookahead``, on the weights at
the start of the window. So a run can resume between windows, and without ``lookahead`` anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import NamedTuple

from chaosops.core.dice import Dice, key_of
from chaosops.core.errors import BadInput
from chaosops.policies.llm.forward import passes
from chaosops.training.credited_turns import CreditedTurn
from chaosops.training.encoder import Encoder, encoded_turns
from chaosops.training.learner import Learner, column_of
from chaosops.training.process_group import ProcessGroup
from chaosops.training.recipe import Recipe
from chaosops.training.turn_folder import TurnFolder


class Position(NamedTuple):
    """Where a run is: updates made, and the window and batch that come next."""

    step: int = 0
    window: int = 0
    batch: int = 0
    began: float = 0.0  # progress of the run, 0 to 1, at the start of this window
    computed: float = 0.0  # the same when its turns were computed, one window earlier


def progress_at(recipe: Recipe, position: Position) -> float:
    """Progress of the run, 0 to 1, by updates or by episodes, whichever ends it first."""
    share = position.step / recipe.steps
    if recipe.episodes:
        share = max(share, position.window * recipe.window / recipe.episodes)
    return min(share, 1.0)


class Windows(NamedTuple):
    """The turns of each window: from the folder that keeps them, or made by the pool."""

    recipe: Recipe
    pool: Executor
    group: ProcessGroup = ProcessGroup()
    kept: TurnFolder | None = None

    def begin(self, window: int, progress: float) -> Callable[[], list[CreditedTurn]]:
        """Start to make a window. The result waits for it."""
        kept, rank, size = self.kept, self.group.rank, self.recipe.window
        if kept and kept.holds(window, rank):
            return lambda: kept.load(window, rank)
        indices = range(window * size + rank, (window + 1) * size, self.group.size)
        made = [self.pool.submit(encoded_turns, self.recipe, i, progress) for i in indices]

        def collect() -> list[CreditedTurn]:
            turns = [turn for future in made for turn in future.result()]
            if kept:
                kept.save(window, rank, turns)
            return turns

        return collect


def open_windows(
    recipe: Recipe, encoder: Encoder, pool: Executor, turns: Path | None, group: ProcessGroup
) -> Windows:
    """``turns`` is the folder that keeps them."""
    kept = TurnFolder(turns, recipe, encoder, group.size) if turns else None
    return Windows(recipe, pool, group, kept)


def batch_stream(
    windows: Windows, learner: Learner | None, start: Position
) -> Iterator[tuple[Position, Position, list[CreditedTurn]]]:
    """(position, position after the batch, batch), until the recipe ends the run. The pool
    makes the next window while the learner uses this one. Without a learner the returns are
    those before ``lookahead``."""
    recipe, group = windows.recipe, windows.group
    at = start
    coming = windows.begin(at.window, at.computed)
    while progress_at(recipe, at) < 1.0:
        later = windows.begin(at.window + 1, at.began)
        turns = coming()
        if learner and recipe.continuation == "lookahead":
            turns = with_lookahead(learner, turns)
        batches = _cut(recipe, turns, at.window)
        count = group.least(len(batches))
        if not count:
            raise BadInput("a window has no turn to learn from; raise window or role_shares")
        if at.batch >= count:
            raise BadInput(
                f"the checkpoint is at batch {at.batch} of a window of {count}: resume the run "
                "with as many processes, and the base, that it was started with"
            )
        for batch in batches[at.batch : count]:
            if at.step == recipe.steps:
                return
            following = at._replace(step=at.step + 1, batch=at.batch + 1)
            if following.batch == count:
                following = Position(following.step, at.window + 1, computed=at.began)
                following = following._replace(began=progress_at(recipe, following))
            yield at, following, batch
            at = following
        coming = later


def _cut(recipe: Recipe, turns: Sequence[CreditedTurn], window: int) -> list[list[CreditedTurn]]:
    """Prompts of similar length share a batch. The order of the batches is random."""
    dice = Dice(key_of("training order", recipe.seed, window))
    turns = dice.shuffled(turns)
    groups = passes([len(turn.prompt) for turn in turns], recipe.batch_tokens)
    return list(dice.shuffled([[turns[i] for i in places] for places in groups]))


def with_lookahead(learner: Learner, turns: Sequence[CreditedTurn]) -> list[CreditedTurn]:
    """The turns, with the expected return of each action that has a follow-up.

    The oracle needs no audit and no message, so returns that it completes give them no credit.
    Here the role that reads the result takes its next turn by the learner's own probabilities,
    and the oracle plays on from there. Worlds are played ahead of time; only the probabilities
    need the weights.
    """
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
