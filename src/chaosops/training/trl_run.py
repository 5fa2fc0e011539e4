"""One run of method ``trl``, TRL's GRPO: for any model of the hub, and as the control to ``menu``.

TRL generates, computes the loss, distributes over GPUs and saves checkpoints. We provide the
prompts in their order, the rewards, the guard rails and the validation.
"""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, MissingExtra
from chaosops.training.learner import require_torch
from chaosops.training.process_group import ProcessGroup, join_process_group
from chaosops.training.recipe import Recipe
from chaosops.training.run_folder import METRICS, enter_folder, open_metrics
from chaosops.training.single_turns import prompts_of
from chaosops.training.tracking import Tell, require_tracking

CHECKPOINTS = "checkpoints"


def train_trl(
    recipe: Recipe,
    base: Path,
    folder: Path,
    *,
    resume: bool = False,
    tell: Tell = lambda row: None,
) -> Path:
    """``base`` is a model's folder or its hub name. Returns the adapter's folder."""
    torch = _require_trl(recipe)
    # Only now: these need TRL.
    from chaosops.training.live_model import LivePolicy
    from chaosops.training.trl_callback import RunCallback
    from chaosops.training.trl_trainer import build_trainer, save_adapter

    group = join_process_group()
    checkpoint = _begin(recipe, folder, resume, group)
    prompts = prompts_of(recipe)
    trainer = build_trainer(recipe, base, folder / CHECKPOINTS, prompts, group)
    validates = recipe.validate_every and group.is_main
    policy = LivePolicy(recipe, trainer) if validates else None
    trainer.add_callback(RunCallback(recipe, folder, tell, prompts, policy))
    try:
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    except torch.OutOfMemoryError:
        raise BadInput(
            "the GPU has too little memory for this recipe: lower batch_tokens or group_size, or "
            "set checkpoint_activations = true"
        ) from None
    if group.is_main:
        save_adapter(recipe, trainer, folder / "adapter")
    group.wait()
    return folder / "adapter"


def _require_trl(recipe: Recipe) -> Any:
    torch = require_torch()
    for package in ("trl", "datasets", "accelerate", "peft"):
        if find_spec(package) is None:
            raise MissingExtra("method = 'trl'", package, "train")
    require_tracking(recipe)
    if torch.cuda.device_count() > 1 and "RANK" not in os.environ:
        raise BadInput(
            f"{torch.cuda.device_count()} GPUs are visible to one process: start with accelerate "
            "launch -m chaosops train RECIPE, or choose one with CUDA_VISIBLE_DEVICES=0"
        )
    return torch


def _begin(recipe: Recipe, folder: Path, resume: bool, group: ProcessGroup) -> Path | None:
    """Prepare the folder. Returns the checkpoint to resume from."""
    step, checkpoint = _last_checkpoint(folder / CHECKPOINTS)
    enter_folder(recipe, folder, resume=resume, holds_run=checkpoint is not None, group=group)
    if group.is_main:
        open_metrics(folder / METRICS, step)
    return checkpoint


def _last_checkpoint(folder: Path) -> tuple[int, Path | None]:
    """The newest complete one. A kill may have left an incomplete one, without the state, which
    is written last."""
    found = {int(path.name.rpartition("-")[2]): path for path in folder.glob("checkpoint-*")}
    for step, path in sorted(found.items(), reverse=True):
        try:
            json.loads((path / "trainer_state.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        return step, path
    return 0, None
