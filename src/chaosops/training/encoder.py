"""Chats as the model's tokens. Most prompts are encoded in the worker processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from chaosops.core.decision import Chat
from chaosops.core.dice import key_of
from chaosops.core.errors import BadInput
from chaosops.training.credited_turns import CreditedTurn, credited_turns
from chaosops.training.marks import Mark
from chaosops.training.recipe import Recipe
from chaosops.workers import Engine, open_workers

_ROLES = ("system", "user")


class Encoder(NamedTuple):
    """A tokenizer and its chat template, without transformers: importing that in every worker
    would take too long."""

    tokenizer: Any  # of the tokenizers library
    around: tuple[str, str, str]  # the template's text before, between and after two messages
    splits: bool = False  # the two messages can be encoded apart

    @classmethod
    def of(cls, tokenizer: Any, base: str) -> Encoder:
        if not getattr(tokenizer, "chat_template", None) or not tokenizer.is_fast:
            raise BadInput(
                f"{base} has no fast tokenizer with a chat template; choose a chat model"
            )
        marks = ("<<the system says>>", "<<the user says>>")
        text = tokenizer.apply_chat_template(
            [{"role": role, "content": mark} for role, mark in zip(_ROLES, marks, strict=True)],
            tokenize=False,
            add_generation_prompt=True,
        )
        before, found, rest = text.partition(marks[0])
        between, also_found, after = rest.partition(marks[1])
        if not (found and also_found):
            raise BadInput(
                f"the chat template of {base} leaves out a system or a user message; choose another"
            )
        encoder = cls(tokenizer.backend_tokenizer, (before, between, after))
        # Some tokenizers treat the beginning of a text in a way of their own.
        whole, *parts = encoder._encode([text, before + marks[0], between + marks[1] + after])
        return encoder._replace(splits=whole.ids == [*parts[0].ids, *parts[1].ids])

    @property
    def key(self) -> int:
        """Equal for encoders that make the same tokens, in every version of the library."""
        return key_of("encoder", str(sorted(self.tokenizer.get_vocab().items())), *self.around)

    def label(self, label: str) -> int:
        tokens = self.tokenizer.encode(label, add_special_tokens=False).ids
        if len(tokens) != 1:
            raise BadInput(f"this model writes {label!r} in {len(tokens)} tokens; menus need one")
        return int(tokens[0])

    def __call__(self, chats: Sequence[Chat]) -> list[list[int]]:
        return [prompt for prompt, _ in self._encoded(chats)]

    def _encoded(self, chats: Sequence[Chat]) -> list[tuple[list[int], Any]]:
        """The tokens of each chat, and the encoding of the part that the user's message is in.
        Most chats of an episode share their system message, whose tokens are kept."""
        parts = [self._parts(chat) for chat in chats]
        heads = list(dict.fromkeys(head for head, _ in parts))
        kept = dict(zip(heads, self._encode(heads), strict=True))
        encodings = self._encode([tail for _, tail in parts])
        return [
            ([*kept[head].ids, *encoding.ids], encoding)
            for (head, _), encoding in zip(parts, encodings, strict=True)
        ]

    def _parts(self, chat: Chat) -> tuple[str, str]:
        system, user = chat
        assert (system["role"], user["role"]) == _ROLES
        before, between, after = self.around
        head, tail = f"{before}{system['content']}", f"{between}{user['content']}{after}"
        return (head, tail) if self.splits else ("", head + tail)

    def _encode(self, texts: Sequence[str]) -> Sequence[Any]:
        found: Sequence[Any] = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        return found

    def encode_turns(self, turns: Sequence[CreditedTurn]) -> list[CreditedTurn]:
        """The turns and their follow-ups with tokens instead of chats."""
        later = [each.turn for turn in turns for each in turn.follow_ups.values() if each.turn]
        prompts = iter(self._encoded([turn.chat for turn in [*turns, *later]]))
        encoded = []
        for turn in turns:
            prompt, encoding = next(prompts)
            marks = self._token_marks(turn, encoding, len(prompt) - len(encoding.ids))
            encoded.append(turn._replace(chat=(), prompt=prompt, marks=marks))
        for at, turn in enumerate(encoded):
            follow_ups = {
                label: each._replace(
                    turn=each.turn and each.turn._replace(chat=(), prompt=next(prompts)[0])
                )
                for label, each in turn.follow_ups.items()
            }
            encoded[at] = turn._replace(follow_ups=follow_ups)
        return encoded

    def _token_marks(self, turn: CreditedTurn, encoding: Any, before: int) -> tuple[Mark, ...]:
        """``before``: the tokens before those of the encoding."""
        if not turn.marks:
            return ()
        _, tail = self._parts(turn.chat)
        start = len(tail) - len(self.around[2]) - len(turn.chat[1]["content"])
        return tuple(
            mark._replace(place=before + encoding.char_to_token(start + mark.place))
            for mark in turn.marks
        )


def rows_a_pass(rows: int, row_tokens: int, batch_tokens: int) -> int:
    """The rows of a pass: as many as fit, in equal passes.

    >>> rows_a_pass(128, 600, 24_000), rows_a_pass(12, 600, 100)
    (32, 1)
    """
    fitting = [n for n in range(1, rows + 1) if rows % n == 0 and n * row_tokens <= batch_tokens]
    return max(fitting, default=1)


_worker_encoder: Encoder


def _open_worker(encoder: Encoder) -> None:
    """Called once in each worker."""
    global _worker_encoder
    _worker_encoder = encoder


@contextmanager
def open_pool(engine: Engine, encoder: Encoder) -> Iterator[Executor]:
    """A thread of this process, or workers. On exit, pending work is dropped."""
    setup = partial(_open_worker, encoder)
    with open_workers(engine, setup) as workers:
        pool = workers or ThreadPoolExecutor(1, initializer=setup)
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)


def encoded_turns(recipe: Recipe, index: int, progress: float) -> list[CreditedTurn]:
    """The turns of one episode, computed in a worker. Only tokens are sent back, no texts."""
    return _worker_encoder.encode_turns(credited_turns(recipe, index, progress))
