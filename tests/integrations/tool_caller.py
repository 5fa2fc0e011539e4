"""A small model whose chat template has tools."""

from __future__ import annotations

from pathlib import Path

from chaosops.integrations.trl import environment, rows
from tests.thin_llama import small_tokenizer, thin_llama

END = "<|im_end|>"
_PADDING = "<|endoftext|>"


def save_tool_caller(folder: Path) -> Path:
    from trl.chat_template_utils import qwen3_chat_template

    seat = environment("oversight")()
    texts = [seat.reset(**row) for row in rows(range(8), tiers=["easy"])]
    tokenizer = small_tokenizer(
        [*texts, qwen3_chat_template],
        [END, "<|im_start|>", _PADDING],
        eos_token=END,
        pad_token=_PADDING,
        chat_template=qwen3_chat_template,
        padding_side="left",
    )
    tokenizer.save_pretrained(folder)
    model = thin_llama(
        max_position_embeddings=16384,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    model.save_pretrained(folder)
    return folder
