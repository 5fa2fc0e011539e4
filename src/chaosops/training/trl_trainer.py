"""TRL's trainer for one run: its arguments, its data set and the LoRA layers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.training.live_model import START, encode
from chaosops.training.process_group import ProcessGroup
from chaosops.training.recipe import Recipe
from chaosops.training.single_turns import Prompt
from chaosops.training.trl_rewards import rewards_of


def training_arguments(
    recipe: Recipe, folder: Path, prompts: Sequence[Prompt], tokenizer: Any, group: ProcessGroup
) -> Any:
    import torch
    from trl import GRPOConfig

    gpu = torch.cuda.is_available()
    rows, passes = _rows_and_passes(recipe, prompts, tokenizer, group)
    return GRPOConfig(
        output_dir=str(folder),
        run_name=recipe.name,
        seed=recipe.seed,
        max_steps=len(prompts) // recipe.prompts_per_step,
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
        entropy_coef=recipe.entropy,
        reward_weights=[reward.weight for reward in rewards_of(recipe)],
        shuffle_dataset=False,  # the order is the curriculum
        remove_unused_columns=False,
        ddp_find_unused_parameters=False,
        dataloader_pin_memory=False,
        use_cpu=not gpu,
        bf16=gpu,
        save_strategy="steps",
        save_steps=max(1, recipe.checkpoint_every),
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
    """Replies in one forward pass, and passes in one update, on each process."""
    replies = recipe.prompts_per_step * recipe.group_size
    if replies % group.size:
        raise BadInput(
            f"{recipe.prompts_per_step} prompts with {recipe.group_size} replies each cannot be "
            f"shared by {group.size} processes: choose another prompts_per_step or group_size"
        )
    mine = replies // group.size
    longest = max(map(len, encode(tokenizer, [prompt.chat for prompt in prompts])))
    rows = _rows_a_pass(mine, longest + recipe.max_reply_tokens, recipe.batch_tokens)
    return rows, mine // rows


def _rows_a_pass(rows: int, row_tokens: int, batch_tokens: int) -> int:
    """As many as fit, in equal passes.

    >>> _rows_a_pass(128, 600, 24_000), _rows_a_pass(12, 600, 100)
    (32, 1)
    """
    fitting = [n for n in range(1, rows + 1) if rows % n == 0 and n * row_tokens <= batch_tokens]
    return max(fitting, default=1)


def build_trainer(
    recipe: Recipe, model: Any, tokenizer: Any, args: Any, prompts: Sequence[Prompt]
) -> Any:
    from peft import LoraConfig
    from transformers import PrinterCallback
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):  # type: ignore[misc]
        def _load_from_checkpoint(self, checkpoint: str, model: Any = None) -> None:
            super()._load_from_checkpoint(checkpoint, model)
            if START in self.model.peft_config:
                # With a second adapter, the trained one is not restored.
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
            "validation runs in one process, which cannot hold a sharded model: "
            "set validate_every = 0, or turn DeepSpeed and FSDP off"
        )
    return trainer


def _projections(model: Any) -> list[str]:
    """Every linear layer but the last, which TRL needs unchanged."""
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
    # A fingerprint of our own: hashing the columns is slow, and needs another library.
    return Dataset(InMemoryTable.from_pydict(columns), fingerprint=f"chaosops-{recipe.name}")
