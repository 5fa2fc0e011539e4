"""transformers: ordinary weights on a CPU or a GPU, many prompts in one pass.

The constant beginning of each role's prompt is computed once and kept. A batch consists of
beginnings, rests and replies, each padded on the right, so no row attends to padding alone.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from chaosops.core.decision import Chat
from chaosops.core.errors import MissingExtra
from chaosops.policies.llm.adapter import read_adapter
from chaosops.policies.llm.pretrained import load_pretrained, snapshot_hash, with_adapter
from chaosops.policies.llm.runtime import MESSAGE_TOKENS, Ask, require_room

_BEGINNINGS = 64  # kept in memory, some 10 MB each for a small model


class TorchRuntime:
    def __init__(
        self, model: str, adapter: Path | None, identity: Mapping[str, Any], batch: int = 16
    ) -> None:
        try:
            import torch
            import transformers
        except ImportError as error:
            raise MissingExtra("running a transformers model", str(error.name), "torch") from None
        self.batch = batch
        self._torch = torch
        gpu = torch.cuda.is_available()
        self._device = torch.device("cuda" if gpu else "cpu")
        dtype = torch.bfloat16 if gpu else torch.float32
        if adapter is not None:
            read_adapter(adapter)  # a damaged one is found before the model is loaded
        self.tokenizer, self.model = load_pretrained(model, dtype)
        if adapter is not None:
            self.model = with_adapter(self.model, adapter)
        self.model = self.model.to(self._device).eval()
        self.end = int(self.tokenizer.eos_token_id)
        self.beginning = lru_cache(maxsize=_BEGINNINGS)(self._beginning)
        place = torch.cuda.get_device_name() if gpu else platform.machine()
        self._status = {
            **identity,
            "backend": f"transformers {transformers.__version__}, torch {torch.__version__}, "
            f"{place}, {str(dtype).removeprefix('torch.')}",
        }
        revision = getattr(self.model.config, "_commit_hash", None)
        if revision and not identity.get("revision"):
            self._status["revision"] = revision
            self._status["weights"] = snapshot_hash(model, revision)

    def status(self) -> Mapping[str, Any]:
        return self._status

    def tokens(self, text: str) -> tuple[int, ...]:
        return tuple(self.tokenizer.encode(text, add_special_tokens=False))

    def open(self, chats: Sequence[Chat]) -> _Session:
        prompts = [self._split(chat) for chat in chats]
        limit = getattr(self.model.config, "max_position_embeddings", None)
        if limit:
            require_room([len(begin) + len(rest) for begin, rest in prompts], limit)
        with self._torch.inference_mode():
            return _Session(self, prompts)

    def _split(self, chat: Chat) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """(beginning, rest): split where the prompts of a role begin to differ."""
        template = self.tokenizer.apply_chat_template
        messages = [dict(message) for message in chat]
        text: str = template(messages, tokenize=False, add_generation_prompt=True)
        user = messages[-1]["content"]
        cut = text.rindex(user) if user and len(messages) == 2 else 0
        return self.tokens(text[:cut]), self.tokens(text[cut:])

    def _beginning(self, tokens: tuple[int, ...]) -> list[tuple[Any, Any]]:
        """Keys and values of a beginning, by layer."""
        ids = self._torch.tensor([tokens], device=self._device)
        cache = self.model(input_ids=ids, use_cache=True, logits_to_keep=1).past_key_values
        return [(layer.keys[0], layer.values[0]) for layer in cache.layers]

    @cached_property
    def quote(self) -> int:
        return self.tokens('"')[0]

    @cached_property
    def letters(self) -> Any:
        """A mask over the vocabulary: the tokens that a message of one line may hold."""
        mask = self._torch.full((self.model.config.vocab_size,), float("-inf"))
        special = set(self.tokenizer.all_special_ids)
        for token in range(len(self.tokenizer)):
            text = self.tokenizer.decode([token])
            plain = text and text.isprintable() and not set(text) & set('"\\\ufffd')
            if plain and token not in special:
                mask[token] = 0.0
        mask[self.quote] = 0.0
        return mask.to(self._device)


class _Session:
    """Prompts that were read: their keys and values, and the logits after them."""

    def __init__(
        self, runtime: TorchRuntime, prompts: list[tuple[tuple[int, ...], tuple[int, ...]]]
    ) -> None:
        self._runtime = runtime
        self._torch = torch = runtime._torch
        self.lengths = [len(begin) + len(rest) for begin, rest in prompts]
        begins = [len(begin) for begin, _ in prompts]
        longest = max(begins)
        device = runtime._device
        mask = torch.zeros(len(prompts), longest, dtype=torch.long, device=device)
        for row, length in enumerate(begins):
            mask[row, :length] = 1
        cache = self._cache([begin for begin, _ in prompts], longest) if longest else None
        rests = [rest for _, rest in prompts]
        self._first, self._mask, cache = self._forward(cache, mask, begins, rests)
        self._layers = [(layer.keys, layer.values) for layer in cache.layers]

    def _cache(self, begins: list[tuple[int, ...]], longest: int) -> Any:
        from transformers import DynamicCache

        torch = self._torch
        kept = [self._runtime.beginning(begin) if begin else None for begin in begins]
        example = next(layers for layers in kept if layers is not None)
        cache = DynamicCache()
        for depth, (key, _) in enumerate(example):
            shape = (len(begins), key.shape[0], longest, key.shape[2])
            keys, values = torch.zeros(shape).to(key), torch.zeros(shape).to(key)
            for row, layers in enumerate(kept):
                if layers is not None:
                    length = layers[depth][0].shape[1]
                    keys[row, :, :length], values[row, :, :length] = layers[depth]
            cache.update(keys, values, depth)
        return cache

    def _forward(
        self, cache: Any, mask: Any, positions: list[int], tails: Sequence[Sequence[int]]
    ) -> tuple[Any, Any, Any]:
        """Read one tail per row, after what its cache and mask hold: (logits after each tail, mask,
        cache)."""
        torch = self._torch
        width = max(len(tail) for tail in tails)
        ids = torch.zeros(len(tails), width, dtype=torch.long)
        new = torch.zeros(len(tails), width, dtype=torch.long)
        for row, tail in enumerate(tails):
            ids[row, : len(tail)] = torch.tensor(tail)
            new[row, : len(tail)] = 1
        steps = torch.arange(width).unsqueeze(0) + torch.tensor(positions).unsqueeze(1)
        device = self._runtime._device
        mask = torch.cat([mask, new.to(device)], dim=1)
        # Logits are computed only for columns where a tail ends: the head is the costly part.
        ends = [len(tail) - 1 for tail in tails]
        columns = sorted(set(ends))
        out = self._runtime.model(
            input_ids=ids.to(device),
            attention_mask=mask,
            position_ids=steps.to(device),
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=torch.tensor(columns, device=device),
        )
        at = torch.tensor([columns.index(end) for end in ends], device=device)
        logits = out.logits[torch.arange(len(tails), device=device), at].float()
        return logits, mask, out.past_key_values

    def rate(self, asks: Sequence[Ask]) -> list[list[float]]:
        torch = self._torch
        with torch.inference_mode():
            further = [i for i, ask in enumerate(asks) if ask.written]
            logits = dict(zip(further, self._after([asks[i] for i in further]), strict=True))
            found = []
            for i, ask in enumerate(asks):
                row = logits[i] if i in logits else self._first[ask.row]
                some = row[torch.tensor(ask.candidates, device=row.device)]
                found.append(torch.log_softmax(some, dim=0).tolist())
            return found

    def _after(self, asks: Sequence[Ask]) -> Any:
        """Logits after what was written. The prompts' cache does not change."""
        if not asks:
            return []
        rows = [ask.row for ask in asks]
        cache, mask = self._rows(rows)
        tails = [ask.written for ask in asks]
        return self._forward(cache, mask, [self.lengths[row] for row in rows], tails)[0]

    def _rows(self, rows: list[int]) -> tuple[Any, Any]:
        from transformers import DynamicCache

        pick = self._torch.tensor(rows, device=self._runtime._device)
        whole = rows == list(range(len(self.lengths)))
        cache = DynamicCache()
        for depth, (keys, values) in enumerate(self._layers):
            cache.update(*((keys, values) if whole else (keys[pick], values[pick])), depth)
        return cache, self._mask[pick]

    def write(self, row: int, written: tuple[int, ...]) -> str:
        runtime, torch = self._runtime, self._torch
        with torch.inference_mode():
            cache, mask = self._rows([row])
            words: list[int] = []
            tail: tuple[int, ...] = written
            at = self.lengths[row]
            while len(words) < MESSAGE_TOKENS:
                logits, mask, cache = self._forward(cache, mask, [at], [tail])
                at += len(tail)
                scores = logits[0] + runtime.letters
                if not words:
                    scores[runtime.quote] = float("-inf")  # a message must not be empty
                token = int(scores.argmax())
                if token == runtime.quote:
                    break
                words.append(token)
                tail = (token,)
            return str(runtime.tokenizer.decode(words)).strip()
