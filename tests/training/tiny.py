"""A model of two thin layers behind the embedded model's tokenizer: quick, and knows nothing."""

from __future__ import annotations

from pathlib import Path

from tests.thin_llama import thin_llama


def save_tiny_model(folder: Path) -> Path:
    from transformers import AutoTokenizer

    from chaosops.policies.llm.weights import embedded_dense

    tokenizer = AutoTokenizer.from_pretrained(embedded_dense())
    tokenizer.save_pretrained(folder)
    thin_llama(len(tokenizer)).save_pretrained(folder)
    return folder
