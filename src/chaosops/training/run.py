"""One run of method ``menu``, from a recipe to an adapter.

Everything depends on the recipe, the step and the weights only. So a run that is resumed from
its checkpoint ends with the same weights, bit for bit, as one that was never stopped.
"""

from __future__ import annotations

import json
import os
import pickle
import time
from collections import Counter
from pathlib import Path
from typing import Any

from chaosops.core.dice import key_of
from chaosops.core.errors import BadInput
from chaosops.training.batches import Position, batch_stream, open_windows, progress_at
from chaosops.training.best import BEST, Best
from chaosops.training.credited_turns import CreditedTurn
from chaosops.training.encoder import open_pool
from chaosops.training.learner import Learner, require_torch
from chaosops.training.objectives import batch_loss, reading_accuracy, reading_loss, returns_table
from chaosops.training.own_play import require_played
from chaosops.training.process_group import ProcessGroup, join_process_group
from chaosops.training.recipe import Recipe
from chaosops.training.run_folder import METRICS, enter_folder, open_metrics
from chaosops.training.supervision import MenuSupervisor, check_step
from chaosops.training.tracking import Tell
from chaosops.workers import HERE, Engine

CHECKPOINT = "checkpoint.pt"


def train(
    recipe: Recipe,
    base: Path,
    folder: Path,
    *,
    resume: bool = False,
    engine: Engine = HERE,
    turns: Path | None = None,
    tell: Tell = lambda row: None,
) -> Path:
    """Returns the adapter's folder. ``turns`` keeps the turns for other runs. ``engine`` makes
    them."""
    torch = require_torch()
    require_played(recipe)
    group = join_process_group()
    learner = Learner(base, recipe)
    start = _begin(torch, recipe, learner, folder, resume, group)
    supervisor, best = _supervise(recipe, learner, folder, start, group)
    metrics = folder / METRICS if group.is_main else Path(os.devnull)
    with open_pool(engine, learner.encode) as pool, metrics.open("a", encoding="utf-8") as log:
        started, tokens, saved = time.monotonic(), 0, start
        stream = batch_stream(
            open_windows(recipe, learner.encode, pool, turns, group), learner, start
        )
        for position, following, batch in () if _is_over(recipe, best, group) else stream:
            row = _learn(torch, recipe, learner, batch, position, group)
            log.write(json.dumps(row) + "\n")
            done = progress_at(recipe, following)
            if best:
                tokens += sum(len(turn.prompt) for turn in batch) * group.size
                speed = tokens / (time.monotonic() - started)
                found = {**row, "done": done, "tokens_per_s": speed}
                tell({**found, "warnings": check_step(recipe, row)})
            if supervisor and best and _is_validated(recipe, following, done):
                found, warnings = supervisor.inspect(following.step)
                log.write(json.dumps(found) + "\n")
                _take(best, found, learner, folder)
                tell({**found, "warnings": warnings})
            if _is_validated(recipe, following, done) and _is_over(recipe, best, group):
                done = 1.0
            if best and _is_due(recipe, saved, following, done):
                log.flush()
                _save(torch, learner, folder, following)
                saved = following
            if done == 1.0:
                break
    if best:
        _keep(recipe, learner, folder)
    group.wait()
    return folder / "adapter"


def _take(best: Best, found: dict[str, Any], learner: Learner, folder: Path) -> None:
    if best.take(found):
        learner.save_adapter(folder / BEST)


def _keep(recipe: Recipe, learner: Learner, folder: Path) -> None:
    """The last adapter or, where a run stops by its validation, the best."""
    if recipe.patience:
        learner.load_adapter(folder / BEST)
    learner.save_adapter(folder / "adapter")


def _supervise(
    recipe: Recipe, learner: Learner, folder: Path, start: Position, group: ProcessGroup
) -> tuple[MenuSupervisor | None, Best | None]:
    """Both belong to the main process. Rows after the checkpoint are removed from the metrics."""
    if not group.is_main:
        return None, None
    supervisor = MenuSupervisor(recipe, learner, folder) if recipe.validate_every else None
    open_metrics(folder / METRICS, start.step, supervisor.first_row if supervisor else None)
    return supervisor, Best(recipe, folder / METRICS)


def _is_validated(recipe: Recipe, following: Position, done: float) -> bool:
    every = recipe.validate_every
    return bool(every) and (following.step % every == 0 or done == 1.0)


def _is_over(recipe: Recipe, best: Best | None, group: ProcessGroup) -> bool:
    """Only the main process knows the validations, and all processes end together."""
    if not recipe.patience:
        return False
    return group.least(0 if best and best.is_final else 1) == 0


def _learn(
    torch: Any,
    recipe: Recipe,
    learner: Learner,
    batch: list[CreditedTurn],
    position: Position,
    group: ProcessGroup,
) -> dict[str, Any]:
    prompts = [turn.prompt for turn in batch]
    returns = returns_table(torch, batch, recipe.idle_bonus, learner.device)
    width = returns.shape[1]
    start = learner.start_logits(prompts, width) if recipe.kl else None
    draw = key_of("sampled group", recipe.seed, position.step, group.rank) >> 1
    marked = [(row, mark.place) for row, turn in enumerate(batch) for mark in turn.marks]
    logits, answers = learner.read(prompts, width, marked)
    found = batch_loss(torch, logits, returns, recipe, start=start, draw=draw)
    asked: Any = reading_loss(torch, answers, batch) if answers else 0.0
    rate = _learning_rate(recipe, position)
    # Nothing is read from the GPU before this, so that it never waits for Python.
    norm = learner.update(found.loss + recipe.reading * asked, rate, group)
    extra = {}
    if answers:
        right = reading_accuracy(torch, answers[-1], batch)
        extra = {"reading": right, "reading_loss": float(asked.detach())}
    return {
        "step": position.step + 1,
        "loss": float(found.loss.detach()),
        "regret": _by_role(batch, found.regret.tolist()),
        "divergence": _by_role(batch, found.divergence.tolist()),
        "spread": max(max(t.returns.values()) - min(t.returns.values()) for t in batch),
        "entropy": float(found.entropy),
        "gradient": norm,
        "learning_rate": rate,
        "states": len(batch),
        "episodes": (position.window + 1) * recipe.window,
        "tiers": dict(sorted(Counter(turn.tier.value for turn in batch).items())),
        **extra,
    }


def _begin(
    torch: Any, recipe: Recipe, learner: Learner, folder: Path, resume: bool, group: ProcessGroup
) -> Position:
    checkpoint = folder / CHECKPOINT
    enter_folder(recipe, folder, resume=resume, holds_run=checkpoint.exists(), group=group)
    if resume and checkpoint.is_file():
        return _restore(torch, learner, checkpoint)
    return Position()


def _restore(torch: Any, learner: Learner, checkpoint: Path) -> Position:
    try:
        kept = torch.load(checkpoint, map_location=learner.device, weights_only=True)
        learner.restore(kept)
        return Position(*kept["position"])
    except (OSError, EOFError, pickle.UnpicklingError, RuntimeError) as error:
        cause = (str(error).strip().splitlines() or [type(error).__name__])[0]
    except (LookupError, TypeError, ValueError, AttributeError):
        cause = "it holds something else"
    raise BadInput(f"{checkpoint} is not a checkpoint of this run: {cause}; start the run again")


def _save(torch: Any, learner: Learner, folder: Path, position: Position) -> None:
    """Replace the checkpoint in one step, so that a kill leaves the previous one. The adapter
    so far is saved too, and can be played."""
    learner.save_adapter(folder / "adapter")
    partial = folder / (CHECKPOINT + ".partial")
    torch.save({**learner.snapshot(), "position": tuple(position)}, partial)
    os.replace(partial, folder / CHECKPOINT)


def _is_due(recipe: Recipe, saved: Position, following: Position, done: float) -> bool:
    """With ``lookahead`` the turns depend on the weights at the start of their window, so such
    a run can resume between windows only."""
    if done == 1.0:
        return True
    old = following.step - saved.step >= recipe.checkpoint_every
    return old and (recipe.continuation != "lookahead" or following.batch == 0)


def _learning_rate(recipe: Recipe, position: Position) -> float:
    """It warms up, stays constant, and falls linearly over the last two thirds."""
    warm = (position.step + 1) / max(1, recipe.warmup_steps)
    down = 1.5 * (1 - progress_at(recipe, position))
    return recipe.learning_rate * max(0.02, min(1.0, warm, down))


def _by_role(turns: list[CreditedTurn], values: list[float]) -> dict[str, float]:
    groups: dict[str, list[float]] = {}
    for turn, value in zip(turns, values, strict=True):
        groups.setdefault(f"{turn.pack} {turn.role}", []).append(value)
    return {name: sum(found) / len(found) for name, found in sorted(groups.items())}
