"""A model that writes single letters, and a tokenizer of a few hundred tokens for it.

On a CPU TRL rates every position against the whole vocabulary, so a test needs a small one;
and replies that are worth learning from need a model that writes what can be read.
"""

from __future__ import annotations

from pathlib import Path
from string import ascii_uppercase

from chaosops.training.recipe import Recipe
from chaosops.training.single_turns import prompts_of

_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_VOCABULARY = 800
_SPECIAL = ["<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]


def save_letter_model(folder: Path) -> Path:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    letters = _save_tokenizer(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=_VOCABULARY,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=8192,
        eos_token_id=0,
        bos_token_id=None,
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        # What every token has in common speaks for letters; which one, the rest decides.
        model.model.embed_tokens.weight[:, 0] = 0.05
        model.lm_head.weight[letters] = 0.3 * torch.randn(len(letters), config.hidden_size)
        model.lm_head.weight[letters, 0] += 4.0
    model.save_pretrained(folder)
    return folder


def _save_tokenizer(folder: Path) -> list[int]:
    """Made of the prompts that it will read, so that they come out short."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY,
        special_tokens=_SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    recipe = Recipe(method="trl", steps=10, classic_share=0.0, reply_format="menu")
    texts = [message["content"] for prompt in prompts_of(recipe) for message in prompt.chat]
    inner.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<|end|>", pad_token="<|end|>", chat_template=_TEMPLATE
    )
    tokenizer.save_pretrained(folder)
    vocabulary: dict[str, int] = inner.get_vocab()
    return [vocabulary[letter] for letter in ascii_uppercase]
