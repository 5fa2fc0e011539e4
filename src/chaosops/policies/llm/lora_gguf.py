"""A PEFT adapter as a GGUF file, for llama.cpp.

llama.cpp keeps the two halves of each rotary pair of a Llama model side by side, so the rows
of its query and key projections stand in another order than in transformers.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from chaosops.core.errors import BadInput, MissingExtra
from chaosops.policies.llm.weights import short_hash, weights_folder

WEIGHTS = "adapter_model.safetensors"
_PARTS = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_PERMUTED = {"llama": {"attn_q": "head_count", "attn_k": "head_count_kv"}}


def adapter_gguf(adapter: Path, base: Path) -> Path:
    """The adapter as llama.cpp reads it; converted once and kept under its hash."""
    if adapter.suffix == ".gguf":
        return adapter
    name = f"lora-{short_hash(adapter / WEIGHTS).removeprefix('sha256:')}-{base.stem}.gguf"
    path = weights_folder() / name
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        convert(adapter, base, partial)
        os.replace(partial, path)
    return path


def convert(adapter: Path, base: Path, out: Path) -> None:
    try:
        import safetensors
        from gguf import GGUFReader, GGUFWriter
    except ImportError as error:
        raise MissingExtra("giving an adapter to llama.cpp", str(error.name), "local") from None
    config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
    fields = GGUFReader(base).fields

    def fact(name: str) -> Any:
        return fields[name].contents()

    kind = fact("general.architecture")
    rank = config["r"]
    # Rank-stabilised scaling divides by the root of the rank; llama.cpp by the rank.
    alpha = config["lora_alpha"] * (math.sqrt(rank) if config.get("use_rslora") else 1.0)
    writer = GGUFWriter(out, kind)
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(alpha))
    read: Any = safetensors.deserialize
    for name, tensor in read((adapter / WEIGHTS).read_bytes()):
        layer, part, which = _place(name)
        values = _floats(tensor)
        if which == "lora_b" and (heads := _PERMUTED.get(kind, {}).get(part)):
            values = _pair_halves(values, int(fact(f"{kind}.attention.{heads}")))
        writer.add_tensor(f"blk.{layer}.{part}.weight.{which}", values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _place(name: str) -> tuple[str, str, str]:
    """
    >>> _place("base_model.model.model.layers.3.mlp.up_proj.lora_A.weight")
    ('3', 'ffn_up', 'lora_a')
    """
    words = name.removeprefix("base_model.model.model.layers.").removesuffix(".weight").split(".")
    layer, part, which = words[0], ".".join(words[1:-1]), words[-1]
    if part not in _PARTS or which not in ("lora_A", "lora_B"):
        raise BadInput(f"the adapter changes {name}, which cannot be given to llama.cpp")
    return layer, _PARTS[part], which.lower()


def _floats(tensor: dict[str, Any]) -> Any:
    raw, shape = tensor["data"], tensor["shape"]
    if tensor["dtype"] == "BF16":  # the upper half of a float32
        wide = np.frombuffer(raw, dtype=np.uint16).astype(np.uint32) << 16
        return wide.view(np.float32).reshape(shape)
    kinds = {"F32": np.float32, "F16": np.float16}
    return np.frombuffer(raw, dtype=kinds[tensor["dtype"]]).reshape(shape)


def _pair_halves(rows: Any, heads: int) -> Any:
    size, width = rows.shape
    return rows.reshape(heads, 2, size // heads // 2, width).swapaxes(1, 2).reshape(size, width)
