"""transformers: ordinary weights on a CPU or a GPU, many prompts in one pass.

On a CPU the constant beginning of each role's prompt is computed once and kept. A batch consists
of beginnings, rests and replies, each padded on the right, so no row attends to padding alone.

On a GPU prompts are read whole as long as the first token of a reply decides, as in a menu.
Computing a beginning again is quicker there than collecting its keys and values.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from chaosops.core.decision import Chat
from chaosops.core.errors import BadInput, MissingExtra
from chaosops.policies.llm.adapter import read_adapter
from chaosops.policies.llm.forward import padded, passes, speed_up
from chaosops.policies.llm.pretrained import load_pretrained, snapshot_hash, with_adapter
from chaosops.policies.llm.runtime import MESSAGE_TOKENS, Ask, require_room

_BEGINNINGS = 64  # kept in memory, some 10 MB each for a small model
_PASS_TOKENS = 32_768  # enough for a GPU; in larger passes more is padding
_USER = "<<the user says>>"

Prompt = tuple[tuple[int, ...], tuple[int, ...]]
"""(beginning, rest): split where the prompts of a role begin to differ."""


class TorchRuntime:
    def __init__(
        self,
        model: str,
        adapter: Path | None,
        identity: Mapping[str, Any],
        batch: int = 16,
        dtype: str | None = None,
        compiles: bool = False,
    ) -> None:
        try:
            import torch
            import transformers
        except ImportError as error:
            raise MissingExtra("running a transformers model", str(error.name), "torch") from None
        self._torch = torch
        gpu = torch.cuda.is_available()
        if compiles and not gpu:
            raise BadInput("compile=true needs a GPU: leave it out")
        self.batch = batch
        self.reads_whole = gpu
        self._device = torch.device("cuda" if gpu else "cpu")
        dtype = dtype or ("bfloat16" if gpu else "float32")
        if adapter is not None:
            read_adapter(adapter)  # a damaged one is found before the model is loaded
        self.tokenizer, self.model = load_pretrained(model, getattr(torch, dtype))
        if adapter is not None:
            self.model = with_adapter(self.model, adapter)
        self.model = self.model.to(self._device).eval()
        if dtype == "bfloat16":
            _use_float32_head(self.model)
        if gpu:
            speed_up(torch, self.model, compiles)
        self.end = int(self.tokenizer.eos_token_id)
        self.beginning = lru_cache(maxsize=_BEGINNINGS)(self._beginning)
        self._around = lru_cache(maxsize=4096)(self._template_around)
        place = torch.cuda.get_device_name() if gpu else platform.machine()
        self._status = {
            **identity,
            "backend": f"transformers {transformers.__version__}, torch {torch.__version__}, "
            f"{place}, {dtype}",
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
        prompts = self._split(chats)
        limit = getattr(self.model.config, "max_position_embeddings", None)
        if limit:
            require_room([len(begin) + len(rest) for begin, rest in prompts], limit)
        return _Session(self, prompts)

    def _split(self, chats: Sequence[Chat]) -> list[Prompt]:
        around = [self._around(system["content"]) for system, _ in chats]
        rests = [
            f"{user['content']}{after}" for (_, user), (_, after) in zip(chats, around, strict=True)
        ]
        tokens = self.tokenizer(rests, add_special_tokens=False)["input_ids"]
        return [(begin, tuple(rest)) for (begin, _), rest in zip(around, tokens, strict=True)]

    def _template_around(self, system: str) -> tuple[tuple[int, ...], str]:
        """What stands before the user's message, as tokens, and what stands after it."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": _USER}]
        template = self.tokenizer.apply_chat_template
        text: str = template(messages, tokenize=False, add_generation_prompt=True)
        before, _, after = text.rpartition(_USER)
        return self.tokens(before), after

    def read_whole(self, prompts: Sequence[Prompt]) -> Any:
        """The logits after each prompt."""
        torch, whole = self._torch, [[*begin, *rest] for begin, rest in prompts]
        groups = passes([len(tokens) for tokens in whole], _PASS_TOKENS)
        found = []
        for places in groups:
            ids, ends = padded(torch, [whole[i] for i in places], self._device)
            found.append(self.forward(ends, input_ids=ids, use_cache=False)[0])
        order = torch.tensor([i for places in groups for i in places], device=self._device)
        return torch.cat(found)[order.argsort()]

    def forward(self, ends: Any, **inputs: Any) -> tuple[Any, Any]:
        """(logits, cache): one row of logits for each row of tokens, at the place where it ends.
        The head is as large as several layers, so it is computed at no other place."""
        rows = self._torch.arange(len(ends), device=self._device)

        def pick(_: Any, hidden: tuple[Any]) -> tuple[Any]:
            return (hidden[0][rows, ends],)

        with self.model.get_output_embeddings().register_forward_pre_hook(pick, prepend=True):
            out = self.model(**inputs)
        return out.logits.float(), out.past_key_values

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


def _use_float32_head(model: Any) -> None:
    """In bf16 neighbouring logits may be an eighth apart, which is too coarse for probabilities."""
    head = deepcopy(model.get_output_embeddings()).float()  # the embedding stays as it is
    head.register_forward_pre_hook(lambda _, inputs: (inputs[0].float(),))
    model.set_output_embeddings(head)


class _Session:
    """Prompts that the model reads when it is asked about them."""

    def __init__(self, runtime: TorchRuntime, prompts: list[Prompt]) -> None:
        self._runtime = runtime
        self._torch = runtime._torch
        self._prompts = prompts
        self.lengths = [len(begin) + len(rest) for begin, rest in prompts]

    @cached_property
    def _first(self) -> Any:
        """Logits after the prompts."""
        if self._runtime.reads_whole:
            return self._runtime.read_whole(self._prompts)
        return self._kept[0]

    @cached_property
    def _kept(self) -> tuple[Any, Any, list[tuple[Any, Any]]]:
        """(logits after the prompts, mask, keys and values by layer): what goes on from here
        needs them."""
        torch, prompts = self._torch, self._prompts
        begins = [len(begin) for begin, _ in prompts]
        longest = max(begins)
        mask = torch.zeros(len(prompts), longest, dtype=torch.long, device=self._runtime._device)
        for row, length in enumerate(begins):
            mask[row, :length] = 1
        cache = self._cache([begin for begin, _ in prompts], longest) if longest else None
        rests = [rest for _, rest in prompts]
        logits, mask, cache = self._forward(cache, mask, begins, rests)
        return logits, mask, [(layer.keys, layer.values) for layer in cache.layers]

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
        torch, device = self._torch, self._runtime._device
        ids, ends = padded(torch, tails, device)
        places = torch.arange(ids.shape[1], device=device).unsqueeze(0)
        mask = torch.cat([mask, (places <= ends.unsqueeze(1)).long()], dim=1)
        logits, cache = self._runtime.forward(
            ends,
            input_ids=ids,
            attention_mask=mask,
            position_ids=places + torch.tensor(positions, device=device).unsqueeze(1),
            past_key_values=cache,
            use_cache=True,
        )
        return logits, mask, cache

    def rate(self, asks: Sequence[Ask]) -> list[list[float]]:
        with self._torch.inference_mode():
            found: dict[Ask, list[float]] = {}
            if first := [ask for ask in asks if not ask.written]:
                rows = self._torch.tensor([ask.row for ask in first], device=self._runtime._device)
                found.update(zip(first, self._among(first, self._first[rows]), strict=True))
            if further := [ask for ask in asks if ask.written]:
                found.update(zip(further, self._among(further, self._after(further)), strict=True))
            return [found[ask] for ask in asks]

    def _among(self, asks: Sequence[Ask], logits: Any) -> list[list[float]]:
        """Log-probabilities among the candidates of each row, all rows at once."""
        torch = self._torch
        widest = max(len(ask.candidates) for ask in asks)
        rows = [[*ask.candidates, *[-1] * (widest - len(ask.candidates))] for ask in asks]
        tokens = torch.tensor(rows, device=logits.device)
        some = logits.gather(1, tokens.clamp(min=0)).masked_fill(tokens < 0, float("-inf"))
        logs = torch.log_softmax(some, dim=1).tolist()
        return [row[: len(ask.candidates)] for ask, row in zip(asks, logs, strict=True)]

    def _after(self, asks: Sequence[Ask]) -> Any:
        """Logits after what was written. The prompts' cache does not change."""
        rows = [ask.row for ask in asks]
        cache, mask = self._rows(rows)
        tails = [ask.written for ask in asks]
        return self._forward(cache, mask, [self.lengths[row] for row in rows], tails)[0]

    def _rows(self, rows: list[int]) -> tuple[Any, Any]:
        from transformers import DynamicCache

        pick = self._torch.tensor(rows, device=self._runtime._device)
        whole = rows == list(range(len(self.lengths)))
        cache = DynamicCache()
        _, mask, layers = self._kept
        for depth, (keys, values) in enumerate(layers):
            cache.update(*((keys, values) if whole else (keys[pick], values[pick])), depth)
        return cache, mask[pick]

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
