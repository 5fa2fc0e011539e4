"""A Llama of two thin layers, and a tokenizer of a few hundred tokens for it: on a CPU TRL rates
every position against the whole vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

VOCABULARY = 800


def thin_llama(vocabulary: int = VOCABULARY, **settings: Any) -> Any:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        **settings,
    )
    return LlamaForCausalLM(config)


def small_tokenizer(texts: Sequence[str], special: Sequence[str], **settings: Any) -> Any:
    """Made of texts like those that it will read, so that they come out short."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=inner, **settings)
