"""A model of two thin layers behind the embedded model's tokenizer: quick, and knows nothing."""

from __future__ import annotations

from pathlib import Path


def save_tiny_model(folder: Path) -> Path:
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    from chaosops.policies.llm.weights import embedded_dense

    tokenizer = AutoTokenizer.from_pretrained(embedded_dense())
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
