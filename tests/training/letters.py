"""A small model that writes single letters: replies that are worth learning from need a model that
writes what can be read."""

from __future__ import annotations

from pathlib import Path
from string import ascii_uppercase

from chaosops.training.recipe import Recipe
from chaosops.training.single_turns import prompts_of
from tests.thin_llama import small_tokenizer, thin_llama

_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_END = "<|end|>"
_SPECIAL = [_END, "<|system|>", "<|user|>", "<|assistant|>"]


def save_letter_model(folder: Path) -> Path:
    import torch

    recipe = Recipe(method="trl", steps=10, classic_share=0.0, reply_format="menu")
    texts = [message["content"] for prompt in prompts_of(recipe) for message in prompt.chat]
    tokenizer = small_tokenizer(
        texts, _SPECIAL, eos_token=_END, pad_token=_END, chat_template=_TEMPLATE
    )
    tokenizer.save_pretrained(folder)
    letters = tokenizer.convert_tokens_to_ids(list(ascii_uppercase))
    model = thin_llama(
        max_position_embeddings=8192, eos_token_id=0, bos_token_id=None, tie_word_embeddings=False
    )
    with torch.no_grad():
        # What every token has in common speaks for letters; which one, the rest decides.
        model.model.embed_tokens.weight[:, 0] = 0.05
        drawn = torch.randn(len(letters), model.config.hidden_size)
        model.lm_head.weight[letters] = 0.3 * drawn
        model.lm_head.weight[letters, 0] += 4.0
    model.save_pretrained(folder)
    return folder
