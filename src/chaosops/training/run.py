"""One run, from a recipe to an adapter; after a kill it goes on where it was.

A window of episodes becomes states, the states become batches of like length in a drawn
order. Everything is a function of the recipe, the step and the weights, so a run that is
resumed from its checkpoint ends with the same weights, bit for bit, as one that was not.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.core.dice import Dice, key_of
from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder, write_text
from chaosops.training.learner import Learner, require_torch
from chaosops.training.objectives import gains_table, lesson
from chaosops.training.own_play import own_states
from chaosops.training.rails import check_step
from chaosops.training.recipe import Recipe
from chaosops.training.states import State, states_of
from chaosops.training.supervision import Supervisor

CHECKPOINT = "checkpoint.pt"
METRICS = "metrics.jsonl"
Tell = Callable[[dict[str, Any]], None]


class Position(NamedTuple):
    """Where a run is: updates made, and the window and batch that come next."""

    step: int = 0
    window: int = 0
    batch: int = 0
    began: int = 0  # the step at which the window was begun
    progress: float = 0.0  # through the run when the window was computed, 0 to 1


class Batch(NamedTuple):
    states: list[State]
    prompts: list[list[int]]


def train(
    recipe: Recipe,
    base: Path,
    folder: Path,
    *,
    resume: bool = False,
    workers: int = 1,
    tell: Tell = lambda row: None,
) -> Path:
    """Returns the adapter's folder."""
    torch = require_torch()
    learner = Learner(base, recipe)
    start = _begin(torch, recipe, learner, folder, resume)
    supervisor = Supervisor(recipe, learner, folder)
    # Threads of torch do not survive a fork.
    with (
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
        (folder / METRICS).open("a", encoding="utf-8") as log,
    ):
        started, tokens, saved = time.monotonic(), 0, start.step
        for position, following, batch in _batches(recipe, learner, pool, start):
            if position.step == recipe.steps:
                break
            row = _learn(torch, recipe, learner, batch, position.step)
            tokens += sum(map(len, batch.prompts))
            speed = tokens / (time.monotonic() - started)
            log.write(json.dumps(row) + "\n")
            tell({**row, "tokens_per_s": speed, "warnings": check_step(recipe, row)})
            if supervisor.is_due(following.step):
                found = supervisor.inspect(following.step)
                log.write(json.dumps(found.row) + "\n")
                tell({**found.row, "warnings": found.warnings})
            if _is_due(recipe, saved, following):
                log.flush()
                _save(torch, learner, folder, following)
                saved = following.step
    return learner.save_adapter(folder / "adapter")


def _learn(torch: Any, recipe: Recipe, learner: Learner, batch: Batch, step: int) -> dict[str, Any]:
    gains = gains_table(torch, batch.states, learner.device)
    found = lesson(torch, learner.logits(batch.prompts), gains, recipe)
    rate = _learning_rate(recipe, step)
    length = learner.update(found.loss, rate)
    return {
        "step": step + 1,
        "loss": float(found.loss.detach()),
        "regret": _by_role(batch.states, found.regret),
        "divergence": _by_role(batch.states, found.divergence),
        "spread": max(max(s.gains.values()) - min(s.gains.values()) for s in batch.states),
        "entropy": found.entropy,
        "gradient": length,
        "learning_rate": rate,
        "states": len(batch.states),
        "tiers": dict(sorted(Counter(state.tier.value for state in batch.states).items())),
    }


def _begin(torch: Any, recipe: Recipe, learner: Learner, folder: Path, resume: bool) -> Position:
    open_folder(folder)
    saved, checkpoint = folder / "recipe.toml", folder / CHECKPOINT
    if not resume:
        if checkpoint.exists():
            raise BadInput(f"{folder} holds a run already; resume it, or choose another folder")
        write_text(saved, recipe.to_toml())
        write_text(folder / METRICS, "")
        return Position()
    if not saved.is_file() or saved.read_text(encoding="utf-8") != recipe.to_toml():
        raise BadInput(f"{saved} is missing or another recipe: a run is resumed with its own")
    position = Position()
    if checkpoint.is_file():
        kept = torch.load(checkpoint, map_location=learner.device, weights_only=True)
        learner.restore(kept)
        position = Position(*kept["position"])
    # Rows after the checkpoint will be written again; the last may be torn.
    lines = (folder / METRICS).read_text(encoding="utf-8").splitlines(keepends=True)
    whole = [line for line in lines if line.endswith("\n")]
    kept_rows = [line for line in whole if json.loads(line)["step"] <= position.step]
    write_text(folder / METRICS, "".join(kept_rows))
    return position


def _save(torch: Any, learner: Learner, folder: Path, position: Position) -> None:
    """Whole or not at all: a kill leaves the checkpoint before."""
    partial = folder / (CHECKPOINT + ".partial")
    torch.save({**learner.snapshot(), "position": tuple(position)}, partial)
    os.replace(partial, folder / CHECKPOINT)


def _is_due(recipe: Recipe, saved: int, following: Position) -> bool:
    """States of own play depend on the weights at their window's start: a run that makes them
    can be taken up between windows only."""
    if following.step == recipe.steps:
        return True
    old = following.step - saved >= recipe.checkpoint_every
    return old and (recipe.finish != "policy" or following.batch == 0)


def _batches(
    recipe: Recipe, learner: Learner, pool: Executor, start: Position
) -> Iterator[tuple[Position, Position, Batch]]:
    """(where we are, where we are after it, the batch), without end. The next window is
    computed while this one is learned."""
    at = start
    coming = _compute(recipe, pool, at.window, at.progress)
    while True:
        begun = at.began / recipe.steps
        later = _compute(recipe, pool, at.window + 1, begun)
        if recipe.finish == "policy":
            states = own_states(learner, recipe, _indices(recipe, at.window), at.progress)
        else:
            states = [state for future in coming for state in future.result()]
        order = _cut(recipe, learner, states, at.window)
        if not order:
            raise BadInput("a window without a single lesson: raise window, or role_shares")
        for number in range(at.batch, len(order)):
            step = at.step + number - at.batch
            following = at._replace(step=step + 1, batch=number + 1)
            if number + 1 == len(order):
                following = Position(step + 1, at.window + 1, 0, step + 1, begun)
            yield at._replace(step=step, batch=number), following, order[number]
        coming = later
        at = following


def _indices(recipe: Recipe, window: int) -> range:
    return range(window * recipe.window, (window + 1) * recipe.window)


def _compute(
    recipe: Recipe, pool: Executor, window: int, progress: float
) -> list[Future[list[State]]]:
    if recipe.finish == "policy":
        return []
    return [pool.submit(states_of, recipe, i, progress) for i in _indices(recipe, window)]


def _cut(recipe: Recipe, learner: Learner, states: list[State], window: int) -> list[Batch]:
    """Prompts of like length share a batch; batches come in a drawn order."""
    dice = Dice(key_of("training order", recipe.seed, window))
    drawn = dice.shuffled([(state, learner.encode(state.chat)) for state in states])
    batches: list[Batch] = []
    for state, prompt in sorted(drawn, key=lambda pair: len(pair[1])):
        full = batches and len(prompt) * (len(batches[-1].prompts) + 1) > recipe.batch_tokens
        if full or not batches:
            batches.append(Batch([], []))
        batches[-1].states.append(state)
        batches[-1].prompts.append(prompt)
    return list(dice.shuffled(batches))


def _learning_rate(recipe: Recipe, step: int) -> float:
    """Up over the first steps, level, and down over the last two thirds."""
    warm = (step + 1) / max(1, recipe.warmup_steps)
    down = 1.5 * (1 - step / recipe.steps)
    return recipe.learning_rate * max(0.02, min(1.0, warm, down))


def _by_role(states: list[State], values: list[float]) -> dict[str, float]:
    groups: dict[str, list[float]] = {}
    for state, value in zip(states, values, strict=True):
        groups.setdefault(f"{state.pack} {state.role}", []).append(value)
    return {name: sum(found) / len(found) for name, found in sorted(groups.items())}
