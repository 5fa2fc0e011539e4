"""One run, from a recipe to an adapter; after a kill it goes on where it was.

Everything is a function of the recipe, the step and the weights, so a run that is resumed
from its checkpoint ends with the same weights, bit for bit, as one that was not.
"""

from __future__ import annotations

import json
import os
import pickle
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from chaosops.core.dice import key_of
from chaosops.core.errors import BadInput
from chaosops.training.encoder import open_pool
from chaosops.training.feed import Batch, Feed, Position, depends_on_weights, through
from chaosops.training.learner import Learner, require_torch
from chaosops.training.objectives import gains_table, lesson
from chaosops.training.rails import check_step
from chaosops.training.ranks import Ranks, join_ranks
from chaosops.training.recipe import Recipe
from chaosops.training.run_folder import METRICS, enter_folder, open_metrics
from chaosops.training.states import State
from chaosops.training.supervision import Supervisor

CHECKPOINT = "checkpoint.pt"
Tell = Callable[[dict[str, Any]], None]


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
    ranks = join_ranks()
    learner = Learner(base, recipe)
    start = _begin(torch, recipe, learner, folder, resume, ranks)
    supervisor = Supervisor(recipe, learner, folder) if ranks.leads else None
    if supervisor:
        open_metrics(folder / METRICS, start.step, supervisor.first_row)
    with (
        open_pool(workers, learner.encode.wording) as pool,
        _log(folder, ranks) as log,
    ):
        started, tokens, at = time.monotonic(), 0, start
        for position, following, batch in Feed(recipe, learner, pool, ranks).batches(start):
            row = _learn(torch, recipe, learner, batch, position, ranks)
            tokens += sum(map(len, batch.prompts)) * ranks.size
            speed = tokens / (time.monotonic() - started)
            log.write(json.dumps(row) + "\n")
            done = through(recipe, following)
            warnings = check_step(recipe, row)
            if ranks.leads:
                tell({**row, "done": done, "tokens_per_s": speed, "warnings": warnings})
            if supervisor and supervisor.is_due(following.step, done):
                found = supervisor.inspect(following.step)
                log.write(json.dumps(found.row) + "\n")
                tell({**found.row, "warnings": found.warnings})
            if ranks.leads and _is_due(recipe, at, following, done):
                log.flush()
                _save(torch, learner, folder, following)
                at = following
    if ranks.leads:
        learner.save_adapter(folder / "adapter")
    ranks.wait()
    return folder / "adapter"


def _log(folder: Path, ranks: Ranks) -> TextIO:
    return (folder / METRICS if ranks.leads else Path(os.devnull)).open("a", encoding="utf-8")


def _learn(
    torch: Any, recipe: Recipe, learner: Learner, batch: Batch, position: Position, ranks: Ranks
) -> dict[str, Any]:
    gains = gains_table(torch, batch.states, recipe.idle_bonus, learner.device)
    start = learner.start_logits(batch.prompts) if recipe.kl else None
    draw = key_of("sampled group", recipe.seed, position.step, ranks.rank) >> 1
    logits = learner.logits(batch.prompts)
    found = lesson(torch, logits, gains, recipe, start=start, draw=draw)
    rate = _learning_rate(recipe, position)
    length = learner.update(found.loss, rate, ranks)
    return {
        "step": position.step + 1,
        "loss": float(found.loss.detach()),
        "regret": _by_role(batch.states, found.regret),
        "divergence": _by_role(batch.states, found.divergence),
        "spread": max(max(s.gains.values()) - min(s.gains.values()) for s in batch.states),
        "entropy": found.entropy,
        "gradient": length,
        "learning_rate": rate,
        "states": len(batch.states),
        "episodes": (position.window + 1) * recipe.window,
        "tiers": dict(sorted(Counter(state.tier.value for state in batch.states).items())),
    }


def _begin(
    torch: Any, recipe: Recipe, learner: Learner, folder: Path, resume: bool, ranks: Ranks
) -> Position:
    checkpoint = folder / CHECKPOINT
    enter_folder(recipe, folder, resume=resume, holds_run=checkpoint.exists(), ranks=ranks)
    if not resume:
        return Position()
    position = Position()
    if checkpoint.is_file():
        position = _restore(torch, learner, checkpoint)
    return position


def _restore(torch: Any, learner: Learner, checkpoint: Path) -> Position:
    try:
        kept = torch.load(checkpoint, map_location=learner.device, weights_only=True)
        learner.restore(kept)
        return Position(*kept["position"])
    except (OSError, EOFError, pickle.UnpicklingError, RuntimeError) as error:
        cause = (str(error).strip().splitlines() or [type(error).__name__])[0]
    except (LookupError, TypeError, ValueError, AttributeError):
        cause = "it holds something else"
    raise BadInput(f"{checkpoint} is no checkpoint of this run: {cause}; begin the run anew")


def _save(torch: Any, learner: Learner, folder: Path, position: Position) -> None:
    """Whole or not at all: a kill leaves the checkpoint before. The adapter so far can be
    played at once."""
    learner.save_adapter(folder / "adapter")
    partial = folder / (CHECKPOINT + ".partial")
    torch.save({**learner.snapshot(), "position": tuple(position)}, partial)
    os.replace(partial, folder / CHECKPOINT)


def _is_due(recipe: Recipe, saved: Position, following: Position, done: float) -> bool:
    """States that depend on the weights do so at their window's start: a run that makes them
    can be taken up between windows only."""
    if done == 1.0:
        return True
    old = following.step - saved.step >= recipe.checkpoint_every
    return old and (not depends_on_weights(recipe) or following.batch == 0)


def _learning_rate(recipe: Recipe, position: Position) -> float:
    """Up over the first steps, level, and down over the last two thirds."""
    warm = (position.step + 1) / max(1, recipe.warmup_steps)
    down = 1.5 * (1 - through(recipe, position))
    return recipe.learning_rate * max(0.02, min(1.0, warm, down))


def _by_role(states: list[State], values: list[float]) -> dict[str, float]:
    groups: dict[str, list[float]] = {}
    for state, value in zip(states, values, strict=True):
        groups.setdefault(f"{state.pack} {state.role}", []).append(value)
    return {name: sum(found) / len(found) for name, found in sorted(groups.items())}
