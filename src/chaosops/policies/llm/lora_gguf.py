"""A PEFT adapter as a GGUF file, for llama.cpp.

llama.cpp stores the two halves of each rotary pair of a Llama model side by side. So the rows of
query and key projections have another order than in transformers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.printable import short
from chaosops.policies.llm.adapter import read_adapter
from chaosops.policies.llm.gguf_header import GgufHeader

_PERMUTED = {"llama": {"attn_q": "head_count", "attn_k": "head_count_kv"}}


def convert(adapter: Path, base: Path, out: Path) -> None:
    """Equal inputs give equal bytes. The file is written each time, because a cached file could
    have been changed."""
    try:
        from gguf import MODEL_ARCH_NAMES, GGUFWriter, get_tensor_name_map
    except ImportError as error:
        raise MissingExtra("giving an adapter to llama.cpp", str(error.name), "local") from None
    lora = read_adapter(adapter)
    header = GgufHeader(base)
    kind = str(_fact(header, base, "general.architecture"))
    kinds = {name: number for number, name in MODEL_ARCH_NAMES.items()}
    if kind not in kinds:
        raise BadInput(f"{base} is a model of a kind that gguf does not know: {short(kind, 40)}")
    blocks = int(_fact(header, base, f"{kind}.block_count"))
    # A damaged file may claim any number of blocks.
    known = get_tensor_name_map(kinds[kind], min(blocks, len(header.shapes)))
    names = {module: known.get_name(module) or "" for module in lora.matrices}
    if other := [module for module, name in names.items() if not name.startswith("blk.")]:
        raise BadInput(
            f"the adapter changes {short(other[0], 80)}, which cannot be given to llama.cpp"
        )
    shapes = {module: header.shapes.get(f"{name}.weight") for module, name in names.items()}
    lora.require_fit(adapter, {module: shape for module, shape in shapes.items() if shape})
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
        writer.add_tensor(f"{name}.weight.lora_a", a)
        writer.add_tensor(f"{name}.weight.lora_b", b)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _fact(header: GgufHeader, base: Path, name: str) -> Any:
    if name not in header.facts:
        raise BadInput(f"{base} is not a GGUF model: it lacks {name}")
    return header.facts[name]


def _pair_halves(rows: Any, heads: int) -> Any:
    size, width = rows.shape
    return rows.reshape(heads, 2, size // heads // 2, width).swapaxes(1, 2).reshape(size, width)
