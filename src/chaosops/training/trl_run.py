"""One run of method ``trl``, TRL's GRPO: for any model of the hub, and as the control to ``menu``.

TRL generates, computes the loss, distributes over GPUs and saves checkpoints. We provide the
prompts in their order, the rewards, the guard rails and the validation.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, MissingExtra
from chaosops.policies.llm.pretrained import load_pretrained
from chaosops.policies.llm.spec import split_revision
from chaosops.training.learner import hub_name, require_torch
from chaosops.training.live_model import START, LiveModel
from chaosops.training.process_group import ProcessGroup, join_process_group
from chaosops.training.recipe import Recipe
from chaosops.training.run import Tell
from chaosops.training.run_folder import METRICS, enter_folder, open_metrics
from chaosops.training.single_turns import prompts_of
from chaosops.training.trl_callback import RunCallback, TrlSupervisor
from chaosops.training.trl_trainer import build_trainer, training_arguments

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
    group = join_process_group()
    checkpoint = _begin(recipe, folder, resume, group)
    prompts = prompts_of(recipe)
    tokenizer, model = _load(torch, recipe, base)
    args = training_arguments(recipe, folder / CHECKPOINTS, prompts, tokenizer, group)
    trainer = build_trainer(recipe, model, tokenizer, args, prompts)
    _keep_off_the_hub(trainer, base)
    supervisor = None
    if recipe.validate_every and group.is_main:
        live = LiveModel(recipe, tokenizer, _opener(trainer))
        supervisor = TrlSupervisor(recipe, live, tokenizer)
    callback = RunCallback(recipe, folder, tell, prompts, supervisor)
    trainer.add_callback(_for_transformers(callback))
    try:
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    except torch.OutOfMemoryError:
        raise BadInput(
            "the GPU has too little memory for this recipe: lower batch_tokens or group_size, or "
            "set checkpoint_activations = true"
        ) from None
    if group.is_main:
        _save_adapter(recipe, trainer, folder / "adapter")
    group.wait()
    return folder / "adapter"


def _require_trl(recipe: Recipe) -> Any:
    torch = require_torch()
    for package in ("trl", "datasets", "accelerate", "peft"):
        if find_spec(package) is None:
            raise MissingExtra("method = 'trl'", package, "train")
    if recipe.track and find_spec("trackio") is None:
        raise MissingExtra(f"track = '{recipe.track}'", "trackio", "track")
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


def _load(torch: Any, recipe: Recipe, base: Path) -> tuple[Any, Any]:
    dtype = torch.bfloat16 if torch.cuda.is_available() else torch.float32
    tokenizer, model = load_pretrained(str(base), dtype)
    # The default would let a batch generate from padding.
    tokenizer.padding_side = "left"
    # With padding on the left, cuDNN's attention gives NaN gradients after about ten updates.
    torch.backends.cuda.enable_cudnn_sdp(False)
    return tokenizer, _with_start(recipe, model) if recipe.start else model


def _with_start(recipe: Recipe, model: Any) -> Any:
    from peft import PeftModel

    try:
        model = PeftModel.from_pretrained(model, recipe.start, is_trainable=True)
        if not recipe.kl:  # otherwise TRL keeps a copy itself
            model.load_adapter(recipe.start, adapter_name=START)
    except (OSError, ValueError, RuntimeError) as error:
        cause = str(error).strip().splitlines()[0]
        raise BadInput(f"cannot start from adapter {recipe.start}: {cause}") from None
    config = model.peft_config["default"]
    if (config.r, config.lora_alpha) != (recipe.lora_rank, recipe.lora_alpha):
        raise BadInput(
            f"the adapter in {recipe.start} has rank {config.r} and alpha {config.lora_alpha}, "
            f"the recipe {recipe.lora_rank} and {recipe.lora_alpha}"
        )
    return model


def _keep_off_the_hub(trainer: Any, base: Path) -> None:
    """PEFT looks up the base whenever it saves. Until the run is over, let it find the local
    copy."""
    from transformers.utils import cached_file

    name, revision = (str(base), None) if base.exists() else split_revision(str(base))
    place = Path(cached_file(name, "config.json", **({"revision": revision} if revision else {})))
    for config in trainer.model.peft_config.values():
        config.base_model_name_or_path = str(place.parent)


def _opener(trainer: Any) -> Callable[[], Any]:
    from trl.models import unwrap_model_for_generation

    return lambda: unwrap_model_for_generation(
        trainer.model_wrapped,
        trainer.accelerator,
        generation_kwargs=trainer.generation_kwargs,
        gradient_checkpointing_kwargs=trainer.args.gradient_checkpointing_kwargs,
    )


def _for_transformers(ours: RunCallback) -> Any:
    from transformers import TrainerCallback

    class Callback(TrainerCallback):  # type: ignore[misc]
        on_train_begin = ours.on_train_begin
        on_pre_optimizer_step = ours.on_pre_optimizer_step
        on_log = ours.on_log

    return Callback()


def _save_adapter(recipe: Recipe, trainer: Any, folder: Path) -> None:
    model = trainer.accelerator.unwrap_model(trainer.model)
    config = model.peft_config["default"]
    config.base_model_name_or_path = hub_name(recipe.base)
    config.revision = getattr(model.config, "_commit_hash", None)
    config.target_modules = sorted(config.target_modules)
    # save_embedding_layers=False: do not ask the hub whether the vocabulary has grown.
    model.save_pretrained(str(folder), selected_adapters=["default"], save_embedding_layers=False)
