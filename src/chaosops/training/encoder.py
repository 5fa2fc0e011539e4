"""Chats as the model's tokens. Most prompts are encoded in the worker processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, NamedTuple

from chaosops.core.decision import Chat
from chaosops.core.errors import BadInput
from chaosops.training.credited_turns import CreditedTurn, credited_turns
from chaosops.training.marks import Mark
from chaosops.training.recipe import Recipe

_ROLES = ("system", "user")


class Encoder(NamedTuple):
    """A tokenizer and its chat template, without transformers: importing that in every worker
    would take too long."""

    tokenizer: Any  # of the tokenizers library
    around: tuple[str, str, str]  # the template's text before, between and after two messages

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
        return cls(tokenizer.backend_tokenizer, (before, between, after))

    def label(self, label: str) -> int:
        tokens = self.tokenizer.encode(label, add_special_tokens=False).ids
        if len(tokens) != 1:
            raise BadInput(f"this model writes {label!r} in {len(tokens)} tokens; menus need one")
        return int(tokens[0])

    def __call__(self, chats: Sequence[Chat]) -> list[list[int]]:
        return [encoding.ids for encoding in self._encodings(chats)]

    def _encodings(self, chats: Sequence[Chat]) -> Sequence[Any]:
        texts = [self._text(chat) for chat in chats]
        found: Sequence[Any] = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        return found

    def _text(self, chat: Chat) -> str:
        system, user = chat
        assert (system["role"], user["role"]) == _ROLES
        before, between, after = self.around
        return f"{before}{system['content']}{between}{user['content']}{after}"

    def encode_turns(self, turns: Sequence[CreditedTurn]) -> list[CreditedTurn]:
        """The turns and their follow-ups with tokens instead of chats."""
        later = [each.turn for turn in turns for each in turn.follow_ups.values() if each.turn]
        encodings = self._encodings([turn.chat for turn in [*turns, *later]])
        prompts = iter([encoding.ids for encoding in encodings])
        encoded = [
            turn._replace(chat=(), prompt=next(prompts), marks=self._token_marks(turn, encoding))
            for turn, encoding in zip(turns, encodings, strict=False)
        ]
        for at, turn in enumerate(encoded):
            follow_ups = {
                label: each._replace(
                    turn=each.turn and each.turn._replace(chat=(), prompt=next(prompts))
                )
                for label, each in turn.follow_ups.items()
            }
            encoded[at] = turn._replace(follow_ups=follow_ups)
        return encoded

    def _token_marks(self, turn: CreditedTurn, encoding: Any) -> tuple[Mark, ...]:
        if not turn.marks:
            return ()
        before, between, _ = self.around
        start = len(before) + len(turn.chat[0]["content"]) + len(between)
        return tuple(
            mark._replace(place=encoding.char_to_token(start + mark.place)) for mark in turn.marks
        )


def passes(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Group prompts of similar length, as many as fit into ``most`` tokens with padding.

    >>> passes([5, 50, 6], 20)
    [[0, 2], [1]]
    """
    found: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not found or lengths[i] * (len(found[-1]) + 1) > most:
            found.append([])
        found[-1].append(i)
    return found


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
def open_pool(workers: int, encoder: Encoder) -> Iterator[Executor]:
    """A thread of this process, or several processes. On exit, pending work is dropped."""
    pool: Executor
    if workers == 1:
        pool = ThreadPoolExecutor(1, initializer=_open_worker, initargs=(encoder,))
    else:
        # Torch's threads do not survive a fork, so workers are spawned.
        pool = ProcessPoolExecutor(workers, get_context("spawn"), _open_worker, (encoder,))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def encoded_turns(recipe: Recipe, index: int, progress: float) -> list[CreditedTurn]:
    """The turns of one episode, computed in a worker. Only tokens are sent back, no texts."""
    return _worker_encoder.encode_turns(credited_turns(recipe, index, progress))
