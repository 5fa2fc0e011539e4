"""A PEFT adapter as a GGUF file, for llama.cpp.

llama.cpp stores the two halves of each rotary pair of a Llama model side by side. So the rows of
query and key projections have another order than in transformers.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, MissingExtra
from chaosops.policies.llm.adapter import read_adapter
from chaosops.policies.llm.gguf_header import GgufHeader

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
_MODULE = re.compile(r"model\.layers\.(\d{1,4})\.(.+)")


def convert(adapter: Path, base: Path, out: Path) -> None:
    """Equal inputs give equal bytes. The file is made anew each time: a cached one could have been
    changed."""
    try:
        from gguf import GGUFWriter
    except ImportError as error:
        raise MissingExtra("giving an adapter to llama.cpp", str(error.name), "local") from None
    lora = read_adapter(adapter)
    header = GgufHeader(base)
    kind = str(_fact(header, base, "general.architecture"))
    names = {module: _tensor_name(module) for module in lora.matrices}
    shapes = header.shapes
    lora.require_fit(adapter, {m: shapes[name] for m, name in names.items() if name in shapes})
    writer = GGUFWriter(out, kind)
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    # llama.cpp divides by the rank again.
    writer.add_float32("adapter.lora.alpha", lora.scale * lora.rank)
    for module, (a, b) in lora.matrices.items():
        name = names[module]
        part = name.split(".")[2]
        if heads := _PERMUTED.get(kind, {}).get(part):
            b = _pair_halves(b, int(_fact(header, base, f"{kind}.attention.{heads}")))
        writer.add_tensor(f"{name}.lora_a", a)
        writer.add_tensor(f"{name}.lora_b", b)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _fact(header: GgufHeader, base: Path, name: str) -> Any:
    if name not in header.facts:
        raise BadInput(f"{base} is no GGUF model: it lacks {name}")
    return header.facts[name]


def _tensor_name(module: str) -> str:
    """
    >>> _tensor_name("model.layers.3.mlp.up_proj")
    'blk.3.ffn_up.weight'
    """
    found = _MODULE.fullmatch(module)
    if found is None or found[2] not in _PARTS:
        raise BadInput(f"the adapter changes {module!r:.80}, which cannot be given to llama.cpp")
    return f"blk.{found[1]}.{_PARTS[found[2]]}.weight"


def _pair_halves(rows: Any, heads: int) -> Any:
    size, width = rows.shape
    return rows.reshape(heads, 2, size // heads // 2, width).swapaxes(1, 2).reshape(size, width)
