"""TRL's trainer for one run: the model with its adapters, the arguments and the data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from datasets.table import InMemoryTable
from peft import LoraConfig, PeftModel
from transformers import PrinterCallback
from transformers.utils import cached_file
from trl import GRPOConfig

from chaosops.core.errors import BadInput
from chaosops.policies.llm.forward import speed_up
from chaosops.policies.llm.pretrained import load_pretrained
from chaosops.policies.llm.spec import split_revision
from chaosops.training.encoder import rows_a_pass
from chaosops.training.learner import hub_name
from chaosops.training.live_model import START, encode
from chaosops.training.process_group import ProcessGroup
from chaosops.training.recipe import Recipe
from chaosops.training.run_folder import note_packs
from chaosops.training.single_turns import Judge, Prompt
from chaosops.training.trl_grpo import CLIP_LOW, Trainer
from chaosops.training.trl_menu import multiply_once
from chaosops.training.trl_rewards import rewards_of


def build_trainer(
    recipe: Recipe, base: Path, folder: Path, prompts: Sequence[Prompt], group: ProcessGroup
) -> Trainer:
    tokenizer, model = _load(recipe, base)
    lora = LoraConfig(
        r=recipe.lora_rank,
        lora_alpha=recipe.lora_alpha,
        target_modules=_projections(model),
        task_type="CAUSAL_LM",
    )
    judge = Judge(recipe, prompts)
    trainer = Trainer(
        recipe,
        judge,
        model=model,
        reward_funcs=rewards_of(recipe, judge),
        args=_arguments(recipe, folder, prompts, tokenizer, group),
        train_dataset=_dataset(recipe, prompts),
        processing_class=tokenizer,
        peft_config=None if recipe.start else lora,
    )
    trainer.remove_callback(PrinterCallback)
    if recipe.validate_every and (trainer.is_deepspeed_enabled or trainer.is_fsdp_enabled):
        raise BadInput(
            "validation runs in one process, which cannot hold a sharded model: "
            "set validate_every = 0, or turn DeepSpeed and FSDP off"
        )
    _keep_off_the_hub(trainer, base)
    if trainer.menu:
        multiply_once(trainer.model)
        if torch.cuda.is_available():
            speed_up(torch, trainer.model, compiles=False)
    return trainer


def _load(recipe: Recipe, base: Path) -> tuple[Any, Any]:
    dtype = torch.bfloat16 if torch.cuda.is_available() else torch.float32
    tokenizer, model = load_pretrained(str(base), dtype)
    # The default would let a batch generate from padding.
    tokenizer.padding_side = "left"
    # With padding on the left, cuDNN's attention gives NaN gradients after about ten updates.
    torch.backends.cuda.enable_cudnn_sdp(False)
    return tokenizer, _with_start(recipe, model) if recipe.start else model


def _with_start(recipe: Recipe, model: Any) -> Any:
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
    name, revision = (str(base), None) if base.exists() else split_revision(str(base))
    place = Path(cached_file(name, "config.json", **({"revision": revision} if revision else {})))
    for config in trainer.model.peft_config.values():
        config.base_model_name_or_path = str(place.parent)


def _projections(model: Any) -> list[str]:
    """Every linear layer but the last, which TRL needs unchanged."""
    head = model.get_output_embeddings()
    return sorted(
        {
            name.rpartition(".")[2]
            for name, part in model.named_modules()
            if isinstance(part, torch.nn.Linear) and part is not head
        }
    )


def _dataset(recipe: Recipe, prompts: Sequence[Prompt]) -> Any:
    columns = {
        "prompt": [[dict(message) for message in prompt.chat] for prompt in prompts],
        "episode": [prompt.key.episode for prompt in prompts],
        "turn": [prompt.key.turn for prompt in prompts],
        "progress": [prompt.key.progress for prompt in prompts],
    }
    # A fingerprint of our own: hashing the columns is slow, and needs another library.
    return Dataset(InMemoryTable.from_pydict(columns), fingerprint=f"chaosops-{recipe.name}")


def _arguments(
    recipe: Recipe, folder: Path, prompts: Sequence[Prompt], tokenizer: Any, group: ProcessGroup
) -> Any:
    gpu = torch.cuda.is_available()
    rows, passes = _rows_and_passes(recipe, prompts, tokenizer, group)
    return GRPOConfig(
        output_dir=str(folder),
        run_name=recipe.name,
        seed=recipe.seed,
        max_steps=min(recipe.steps, len(prompts) // recipe.prompts_per_step * recipe.reuse),
        learning_rate=recipe.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=recipe.warmup_steps,
        per_device_train_batch_size=rows,
        gradient_accumulation_steps=passes,
        gradient_checkpointing=recipe.checkpoint_activations,
        num_generations=recipe.group_size,
        max_completion_length=recipe.max_reply_tokens,
        temperature=recipe.sampling_temperature,
        beta=recipe.kl,
        num_iterations=recipe.reuse,
        epsilon=CLIP_LOW,
        epsilon_high=recipe.clip_high,
        entropy_coef=recipe.entropy,
        use_adaptive_entropy=recipe.entropy_target > 0,
        entropy_target=recipe.entropy_target,
        entropy_coef_delta=recipe.entropy_step,
        reward_weights=[reward.weight for reward in rewards_of(recipe)],
        shuffle_dataset=False,  # the order is the curriculum
        remove_unused_columns=False,
        ddp_find_unused_parameters=False,
        dataloader_pin_memory=False,
        use_cpu=not gpu,
        # Menus are computed like method menu does: a base in bf16, adapters in float32.
        bf16=gpu and recipe.reply_format != "menu",
        save_steps=recipe.checkpoint_every,
        save_total_limit=2,  # a kill may damage the newest
        logging_steps=1,
        logging_nan_inf_filter=False,
        log_level="error",
        disable_tqdm=True,
        report_to="trackio" if recipe.track else "none",
        project=recipe.track or "none",
    )


def _rows_and_passes(
    recipe: Recipe, prompts: Sequence[Prompt], tokenizer: Any, group: ProcessGroup
) -> tuple[int, int]:
    """The replies in one forward pass and the passes in one update, for each process."""
    replies = recipe.prompts_per_step * recipe.group_size
    if replies % group.size:
        raise BadInput(
            f"{recipe.prompts_per_step} prompts with {recipe.group_size} replies each cannot be "
            f"shared by {group.size} processes: choose another prompts_per_step or group_size"
        )
    mine = replies // group.size
    if recipe.reply_format == "menu":
        return mine, 1  # each prompt is computed once, in as many passes as it takes
    longest = max(map(len, encode(tokenizer, [prompt.chat for prompt in prompts])))
    rows = rows_a_pass(mine, longest + recipe.max_reply_tokens, recipe.batch_tokens)
    return rows, mine // rows


def save_adapter(recipe: Recipe, trainer: Any, folder: Path) -> None:
    model = trainer.accelerator.unwrap_model(trainer.model)
    config = model.peft_config["default"]
    config.base_model_name_or_path = hub_name(recipe.base)
    config.revision = getattr(model.config, "_commit_hash", None)
    config.target_modules = sorted(config.target_modules)
    # save_embedding_layers=False: do not ask the hub whether the vocabulary has grown.
    model.save_pretrained(str(folder), selected_adapters=["default"], save_embedding_layers=False)
    note_packs(recipe, folder)
