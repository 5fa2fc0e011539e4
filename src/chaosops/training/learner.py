"""The model that learns: a base with LoRA on every projection.

A reply from a menu is one token. So one forward pass over a prompt gives the probability of
every action, without decoding.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.files import write_bytes, write_text
from chaosops.core.labels import LABELS, LETTERS
from chaosops.policies.llm.adapter import WEIGHTS
from chaosops.policies.llm.forward import padded, passes, speed_up
from chaosops.policies.llm.pretrained import load_pretrained
from chaosops.policies.llm.spec import split_revision
from chaosops.policies.llm.thresholds import write_thresholds
from chaosops.training.encoder import Encoder
from chaosops.training.process_group import ProcessGroup
from chaosops.training.readers import Readers
from chaosops.training.recipe import Recipe
from chaosops.training.run_folder import note_packs

_PASS_TOKENS = 200_000
PROJECTIONS = {
    "self_attn": ("q_proj", "k_proj", "v_proj", "o_proj"),
    "mlp": ("gate_proj", "up_proj", "down_proj"),
}


def column_of(label: str) -> int:
    """
    >>> column_of("A"), column_of("z"), column_of("ab")
    (0, 51, 52)
    """
    try:
        return _COLUMNS[label]
    except KeyError:
        raise BadInput(
            f"label {label!r} of a menu is not known here: training knows menus of at most "
            f"{len(LABELS)} actions"
        ) from None


_COLUMNS = {label: column for column, label in enumerate(LABELS)}


def width_of(labels: Iterable[str]) -> int:
    """The columns of a table that has room for these labels: the letters, or all labels. So menus
    of letters are computed as if there were no other labels."""
    return len(LETTERS) if all(map(LETTERS.__contains__, labels)) else len(LABELS)


def require_torch() -> Any:
    try:
        import torch
        import transformers  # noqa: F401
    except ImportError as error:
        raise MissingExtra("training", str(error.name), "torch") from None
    return torch


class Learner:
    """A base in bf16 with float32 adapters; on a CPU all in float32."""

    def __init__(self, folder: Path, recipe: Recipe) -> None:
        self._torch = torch = require_torch()
        self.recipe = recipe
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        if recipe.compile and self.device.type != "cuda":
            raise BadInput("compile = true needs a GPU: leave it out, or --set compile=false")
        dtype = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        tokenizer, model = load_pretrained(str(folder), dtype)
        _require_projections(model, folder)
        self.encode = Encoder.of(tokenizer, str(folder))
        self.model = model.to(self.device)
        torch.manual_seed(recipe.seed)
        self.params = _add_lora(torch, self.model, recipe.lora_rank, recipe.lora_alpha)
        self._tokens = cache(self._tokens_of)
        self._tokens(len(LETTERS))
        self._readers = Readers(torch, self.model.config, self.device) if recipe.reading else None
        self._trained = [*self.params.values(), *(self._readers.weights if self._readers else ())]
        # One kernel for all weights: without it a GPU waits for Python here.
        fused = self.device.type == "cuda"
        self.optimizer = torch.optim.AdamW(self._trained, lr=0.0, weight_decay=0.0, fused=fused)
        if recipe.start:
            self.load_adapter(Path(recipe.start))
        self._start = self._copy() if recipe.kl else {}
        if self.device.type == "cuda":
            speed_up(torch, self.model, recipe.compile)
        if self._readers:
            self._readers.attach(self.model.model.layers)

    def _tokens_of(self, width: int) -> Any:
        """The tokens of the first labels."""
        tokens = [self.encode.label(label) for label in LABELS[:width]]
        return self._torch.tensor(tokens, device=self.device)

    def logits(self, prompts: Sequence[Sequence[int]], width: int = len(LETTERS)) -> Any:
        """One row of label logits per prompt."""
        return self.read(prompts, width, ())[0]

    def read(
        self, prompts: Sequence[Sequence[int]], width: int, marked: Sequence[tuple[int, int]]
    ) -> tuple[Any, list[Any]]:
        """The logits of labels, and those of the answers to questions at marked tokens."""
        torch = self._torch
        ids, last = padded(torch, prompts, self.device)
        hidden = self.model.model(input_ids=ids, use_cache=False).last_hidden_state
        rows = torch.arange(len(prompts), device=self.device)
        head = self.model.lm_head.weight[self._tokens(width)]
        answers = self._readers.answers(marked) if self._readers else []
        return (hidden[rows, last] @ head.T).float(), answers

    def probabilities(
        self, prompts: Sequence[Sequence[int]], offered: Sequence[Sequence[str]]
    ) -> list[list[float]]:
        """The probability of each label among those offered, a row for each prompt."""
        torch = self._torch
        width = width_of(label for labels in offered for label in labels)
        absent = torch.ones(len(prompts), width, dtype=torch.bool)
        for row, labels in enumerate(offered):
            absent[row, [column_of(label) for label in labels]] = False
        rows: dict[int, list[float]] = {}
        for places in passes([len(prompt) for prompt in prompts], _PASS_TOKENS):
            with torch.inference_mode():
                logits = self.logits([prompts[i] for i in places], width)
                logits = logits.masked_fill(absent[places].to(self.device), float("-inf"))
            rows.update(zip(places, torch.softmax(logits, dim=1).tolist(), strict=True))
        return [rows[i] for i in range(len(prompts))]

    def start_logits(self, prompts: Sequence[Sequence[int]], width: int = len(LETTERS)) -> Any:
        """The logits at the start of the run."""
        now = self._copy()
        with self._torch.no_grad():
            self._put(self._start)
            found = self.logits(prompts, width)
        self._put(now)
        return found

    def _copy(self) -> dict[str, Any]:
        return {name: param.detach().clone() for name, param in self.params.items()}

    def _put(self, weights: Mapping[str, Any]) -> None:
        with self._torch.no_grad():
            for name, param in self.params.items():
                param.copy_(weights[name])

    def update(self, loss: Any, learning_rate: float, group: ProcessGroup) -> float:
        """One optimizer step. Returns the norm of the gradient, which must be finite."""
        torch = self._torch
        for settings in self.optimizer.param_groups:
            settings["lr"] = learning_rate
        self.optimizer.zero_grad()
        loss.backward()
        group.average_gradients(self._trained)
        norm = float(torch.nn.utils.clip_grad_norm_(self._trained, 1.0))
        is_finite = bool(torch.isfinite(loss))
        if not (is_finite and math.isfinite(norm)):
            what = "gradient" if is_finite else "loss"
            raise BadInput(f"the {what} is not finite: lower learning_rate")
        self.optimizer.step()
        return norm

    def snapshot(self) -> dict[str, Any]:
        """The state that later updates depend on."""
        return {
            "weights": {name: p.detach() for name, p in self.params.items()},
            "optimizer": self.optimizer.state_dict(),
            "readers": self._readers.snapshot() if self._readers else {},
        }

    def restore(self, kept: Mapping[str, Any]) -> None:
        self._put(kept["weights"])
        if self._readers:
            self._readers.restore(kept["readers"])
        self.optimizer.load_state_dict(kept["optimizer"])

    def save_adapter(self, folder: Path) -> None:
        """Write the adapter in PEFT's format."""
        from safetensors.torch import save

        folder.mkdir(parents=True, exist_ok=True)
        kept = {
            name: p.detach().to(self._torch.bfloat16).cpu().contiguous()
            for name, p in self.params.items()
        }
        write_bytes(folder / WEIGHTS, save(kept))
        config = {
            "peft_type": "LORA",
            "task_type": "CAUSAL_LM",
            "base_model_name_or_path": hub_name(self.recipe.base),
            "r": self.recipe.lora_rank,
            "lora_alpha": self.recipe.lora_alpha,
            "lora_dropout": 0.0,
            "bias": "none",
            "target_modules": [name for names in PROJECTIONS.values() for name in names],
        }
        if commit := getattr(self.model.config, "_commit_hash", None):
            config["revision"] = commit
        write_text(folder / "adapter_config.json", json.dumps(config, indent=1) + "\n")
        note_packs(self.recipe, folder)
        if thresholds := self.recipe.thresholds:
            write_thresholds(folder, thresholds)

    def load_adapter(self, folder: Path) -> None:
        from safetensors.torch import load_file

        file = folder / WEIGHTS
        if not file.is_file():
            raise BadInput(f"no adapter to start from: {file} does not exist; set start")
        kept: Mapping[str, Any] = load_file(file)
        if set(kept) != set(self.params):
            raise BadInput(f"the adapter in {folder} is of another model; choose another start")
        if any(param.shape != kept[name].shape for name, param in self.params.items()):
            raise BadInput(
                f"the adapter in {folder} has another rank than the recipe; set lora_rank"
            )
        self._put(kept)


def hub_name(base: str) -> str:
    """The hub name of the base, for the adapter's config. The embedded model has one too where it
    was loaded from a folder, so the config does not say which folder that was."""
    from chaosops.policies.llm.weights import HUB_NAME, is_embedded

    if base.startswith("hf:"):
        return split_revision(base.removeprefix("hf:"))[0]
    return HUB_NAME if base.startswith("local:") or is_embedded(Path(base)) else base


def _require_projections(model: Any, base: Path) -> None:
    layers = getattr(getattr(model, "model", None), "layers", None)
    parts = [
        getattr(getattr(layer, block, None), name, None)
        for layer in layers or [None]
        for block, names in PROJECTIONS.items()
        for name in names
    ]
    if not all(hasattr(part, "in_features") for part in parts):
        raise BadInput(
            f"{base} is a {type(model).__name__}, whose layers method = 'menu' does not know; "
            "choose method = 'trl', or a model built like Llama"
        )


def _add_lora(torch: Any, model: Any, rank: int, alpha: int) -> dict[str, Any]:
    """Replace every projection by one that multiplies with W + BA: one matrix product, where
    PEFT's layers make three. Returns the new weights by PEFT's names."""

    class Lora(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.weight, self.bias = inner.weight, inner.bias
            at = inner.weight.device
            self.a = torch.nn.Parameter(torch.empty(rank, inner.in_features, device=at))
            self.b = torch.nn.Parameter(torch.zeros(inner.out_features, rank, device=at))
            torch.nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))

        def forward(self, x: Any) -> Any:
            delta = (self.b @ self.a) * (alpha / rank)
            whole = self.weight + delta.to(self.weight.dtype)
            return torch.nn.functional.linear(x, whole, self.bias)

    model.requires_grad_(False)
    params = {}
    for depth, layer in enumerate(model.model.layers):
        for block, names in PROJECTIONS.items():
            part = getattr(layer, block)
            for name in names:
                lora = Lora(getattr(part, name))
                setattr(part, name, lora)
                stem = f"base_model.model.model.layers.{depth}.{block}.{name}"
                params[f"{stem}.lora_A.weight"] = lora.a
                params[f"{stem}.lora_B.weight"] = lora.b
    return params
