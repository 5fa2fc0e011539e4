"""A quantised GGUF file as a folder of ordinary weights, for training and for GPUs."""

from __future__ import annotations

from pathlib import Path

from chaosops.core.errors import MissingExtra


def densify(gguf: Path, folder: Path) -> None:
    try:
        import gguf as _  # noqa: F401  transformers reads the file with it
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    except ImportError as error:
        raise MissingExtra("unpacking GGUF weights", str(error.name), "torch") from None
    where = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(**where)
    model = AutoModelForCausalLM.from_pretrained(
        **where, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.hf_quantizer, model.is_quantized = None, False
    # In the file padding and the end of a reply are one token: a loss would mask every end.
    tokenizer.pad_token = tokenizer.unk_token
    model.config.pad_token_id = model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
