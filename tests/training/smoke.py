"""Recipes of a few steps for a model of two thin layers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from chaosops.training.recipe import Recipe

SMOKE = Recipe(
    name="smoke",
    steps=5,
    window=4,
    batch_tokens=6_000,
    checkpoint_every=2,
    lora_rank=2,
    lora_alpha=4,
    learning_rate=1e-2,
    warmup_steps=1,
    classic_share=0.3,
    curriculum="easy:1,hard:1",
    shuffle_tiers=False,
    validate_every=0,
)
LOOKING = replace(SMOKE, continuation="lookahead", objective="improve", temperature=30.0, kl=0.1)


def weights_of(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return dict(load_file(folder / "adapter" / "adapter_model.safetensors"))
