"""One run of TRL's GRPO: replies are sampled, read, tried in the world, and the better half of
each group is made likelier. For any model of the hub, and as the control to ``menu``.

TRL generates, computes the loss, distributes over GPUs and saves checkpoints. Ours are the
prompts and their order, the rewards, and what watches the run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, MissingExtra
from chaosops.policies.llm.pretrained import load_pretrained
from chaosops.policies.llm.spec import split_revision
from chaosops.training.learner import hub_name, require_torch
from chaosops.training.live_model import START, LiveModel, encode
from chaosops.training.ranks import Ranks, join_ranks
from chaosops.training.recipe import Recipe
from chaosops.training.run import Tell
from chaosops.training.run_folder import METRICS, enter_folder, open_metrics
from chaosops.training.single_turns import Prompt, prompts_of
from chaosops.training.trl_rewards import rewards_of
from chaosops.training.trl_watch import Inspector, RunWatch

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
    ranks = join_ranks()
    checkpoint = _begin(recipe, folder, resume, ranks)
    prompts = prompts_of(recipe)
    tokenizer, model = _load(torch, recipe, base)
    args = _arguments(torch, recipe, folder, prompts, tokenizer, ranks)
    trainer = _trainer(recipe, model, tokenizer, args, prompts)
    _keep_off_the_hub(trainer, base)
    inspector = None
    if recipe.validate_every and ranks.leads:
        live = LiveModel(recipe, tokenizer, _lender(trainer))
        inspector = Inspector(recipe, live, tokenizer)
    watch = RunWatch(recipe, folder, tell, prompts, inspector)
    trainer.add_callback(_as_callback(watch))
    try:
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    except torch.OutOfMemoryError:
        raise BadInput(
            "the GPU's memory is too small for this recipe: lower batch_tokens or group_size, or "
            "set checkpoint_activations = true"
        ) from None
    if ranks.leads:
        _save_adapter(recipe, trainer, folder / "adapter")
    ranks.wait()
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


def _begin(recipe: Recipe, folder: Path, resume: bool, ranks: Ranks) -> Path | None:
    """The checkpoint to go on from."""
    step, checkpoint = _last_checkpoint(folder / CHECKPOINTS)
    enter_folder(recipe, folder, resume=resume, holds_run=checkpoint is not None, ranks=ranks)
    if ranks.leads:
        open_metrics(folder / METRICS, step)
    return checkpoint


def _last_checkpoint(folder: Path) -> tuple[int, Path | None]:
    """The newest one that is whole: a kill may have left half of one. Its state comes last."""
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
    # Not saved with a tokenizer, and without it a batch generates from padding.
    tokenizer.padding_side = "left"
    # With padding on the left cuDNN's attention gives gradients that are not numbers, after some
    # ten updates; the other kernels do not.
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


def _arguments(
    torch: Any,
    recipe: Recipe,
    folder: Path,
    prompts: Sequence[Prompt],
    tokenizer: Any,
    ranks: Ranks,
) -> Any:
    from trl import GRPOConfig

    gpu = torch.cuda.is_available()
    replies = recipe.prompts_per_step * recipe.group_size
    if replies % ranks.size:
        raise BadInput(
            f"{recipe.prompts_per_step} prompts with {recipe.group_size} replies each cannot be "
            f"shared by {ranks.size} processes: choose another prompts_per_step or group_size"
        )
    rows = replies // ranks.size
    longest = max(map(len, encode(tokenizer, [prompt.chat for prompt in prompts])))
    rows_a_pass = _rows_a_pass(rows, longest + recipe.max_reply_tokens, recipe.batch_tokens)
    return GRPOConfig(
        output_dir=str(folder / CHECKPOINTS),
        run_name=recipe.name,
        seed=recipe.seed,
        max_steps=len(prompts) // recipe.prompts_per_step,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=recipe.warmup_steps,
        per_device_train_batch_size=rows_a_pass,
        gradient_accumulation_steps=rows // rows_a_pass,
        gradient_checkpointing=recipe.checkpoint_activations,
        num_generations=recipe.group_size,
        max_completion_length=recipe.max_reply_tokens,
        temperature=recipe.sampling_temperature,
        beta=recipe.kl,
        entropy_coef=recipe.entropy,
        reward_weights=[reward.weight for reward in rewards_of(recipe)],
        shuffle_dataset=False,  # its order is the curriculum
        remove_unused_columns=False,
        ddp_find_unused_parameters=False,
        dataloader_pin_memory=False,
        use_cpu=not gpu,
        bf16=gpu,
        save_strategy="steps",
        save_steps=max(1, recipe.checkpoint_every),
        save_total_limit=2,  # a kill may spoil the newest
        logging_steps=1,
        logging_nan_inf_filter=False,
        log_level="error",
        disable_tqdm=True,
        report_to="trackio" if recipe.track else "none",
        project=recipe.track or "none",
    )


def _rows_a_pass(rows: int, row_tokens: int, batch_tokens: int) -> int:
    """As many as fit, in equal passes.

    >>> _rows_a_pass(128, 600, 24_000), _rows_a_pass(12, 600, 100)
    (32, 1)
    """
    fitting = [n for n in range(1, rows + 1) if rows % n == 0 and n * row_tokens <= batch_tokens]
    return max(fitting, default=1)


def _trainer(
    recipe: Recipe, model: Any, tokenizer: Any, args: Any, prompts: Sequence[Prompt]
) -> Any:
    from peft import LoraConfig
    from transformers import PrinterCallback
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):  # type: ignore[misc]
        def _load_from_checkpoint(self, checkpoint: str, model: Any = None) -> None:
            super()._load_from_checkpoint(checkpoint, model)
            if START in self.model.peft_config:
                # Where a second adapter lies beside it, the one that learns is not restored.
                self.model.load_adapter(checkpoint, "default", is_trainable=True)
                self.model.set_adapter("default")

    lora = LoraConfig(
        r=recipe.lora_rank,
        lora_alpha=recipe.lora_alpha,
        target_modules=_projections(model),
        task_type="CAUSAL_LM",
    )
    trainer = Trainer(
        model=model,
        reward_funcs=list(rewards_of(recipe)),
        args=args,
        train_dataset=_dataset(recipe, prompts),
        processing_class=tokenizer,
        peft_config=None if recipe.start else lora,
    )
    trainer.remove_callback(PrinterCallback)
    if recipe.validate_every and (trainer.is_deepspeed_enabled or trainer.is_fsdp_enabled):
        raise BadInput(
            "validation plays on one process, which cannot hold a sharded model: "
            "set validate_every = 0, or leave DeepSpeed and FSDP off"
        )
    return trainer


def _keep_off_the_hub(trainer: Any, base: Path) -> None:
    """PEFT looks the base up whenever it saves; until the run is over, where it was loaded."""
    from transformers.utils import cached_file

    name, revision = (str(base), None) if base.exists() else split_revision(str(base))
    place = Path(cached_file(name, "config.json", **({"revision": revision} if revision else {})))
    for config in trainer.model.peft_config.values():
        config.base_model_name_or_path = str(place.parent)


def _projections(model: Any) -> list[str]:
    """Every linear layer but the last, which TRL must find as it is."""
    import torch

    head = model.get_output_embeddings()
    return sorted(
        {
            name.rpartition(".")[2]
            for name, part in model.named_modules()
            if isinstance(part, torch.nn.Linear) and part is not head
        }
    )


def _dataset(recipe: Recipe, prompts: Sequence[Prompt]) -> Any:
    from datasets import Dataset
    from datasets.table import InMemoryTable

    columns = {
        "prompt": [[dict(message) for message in prompt.chat] for prompt in prompts],
        "episode": [prompt.key.episode for prompt in prompts],
        "turn": [prompt.key.turn for prompt in prompts],
        "progress": [prompt.key.progress for prompt in prompts],
    }
    # Named here: hashing the columns is slow, and needs more libraries than the data set.
    return Dataset(InMemoryTable.from_pydict(columns), fingerprint=f"chaosops-{recipe.name}")


def _lender(trainer: Any) -> Callable[[], Any]:
    from trl.models import unwrap_model_for_generation

    return lambda: unwrap_model_for_generation(
        trainer.model_wrapped,
        trainer.accelerator,
        generation_kwargs=trainer.generation_kwargs,
        gradient_checkpointing_kwargs=trainer.args.gradient_checkpointing_kwargs,
    )


def _as_callback(watch: RunWatch) -> Any:
    from transformers import TrainerCallback

    class Callback(TrainerCallback):  # type: ignore[misc]
        on_train_begin = watch.on_train_begin
        on_pre_optimizer_step = watch.on_pre_optimizer_step
        on_log = watch.on_log

    return Callback()


def _save_adapter(recipe: Recipe, trainer: Any, folder: Path) -> None:
    model = trainer.accelerator.unwrap_model(trainer.model)
    config = model.peft_config["default"]
    config.base_model_name_or_path = hub_name(recipe.base)
    config.revision = getattr(model.config, "_commit_hash", None)
    config.target_modules = sorted(config.target_modules)
    # Only the adapter: no look at the hub for whether the vocabulary has grown.
    model.save_pretrained(str(folder), selected_adapters=["default"], save_embedding_layers=False)
