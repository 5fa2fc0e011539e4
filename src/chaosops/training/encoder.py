"""Chats as the model's tokens; in the workers too, where most prompts are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple, ParamSpec, TypeVar

from chaosops.core.decision import Chat
from chaosops.core.errors import BadInput
from chaosops.training.recipe import Recipe
from chaosops.training.states import State, states_of

P = ParamSpec("P")
T = TypeVar("T")
_ROLES = ("system", "user")


class Wording(NamedTuple):
    """What a worker needs of a tokenizer: importing transformers takes it too long."""

    tokenizer: str  # as the tokenizers library writes it
    around: tuple[str, str, str]  # what a chat template puts before, between and after

    @classmethod
    def of(cls, tokenizer: Any, base: str) -> Wording:
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
            raise BadInput(f"the chat template of {base} leaves out a system or a user message")
        return cls(tokenizer.backend_tokenizer.to_str(), (before, between, after))


class Encoder:
    def __init__(self, wording: Wording) -> None:
        from tokenizers import Tokenizer

        self.wording = wording
        self._tokenizer = Tokenizer.from_str(wording.tokenizer)

    def label(self, label: str) -> int:
        tokens = self._tokenizer.encode(label, add_special_tokens=False).ids
        if len(tokens) != 1:
            raise BadInput(f"this model writes {label!r} in {len(tokens)} tokens; menus need one")
        return int(tokens[0])

    def __call__(self, chats: Sequence[Chat]) -> list[list[int]]:
        texts = [self._text(chat) for chat in chats]
        found = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        return [encoding.ids for encoding in found]

    def _text(self, chat: Chat) -> str:
        system, user = chat
        assert (system["role"], user["role"]) == _ROLES
        before, between, after = self.wording.around
        return f"{before}{system['content']}{between}{user['content']}{after}"

    def read(self, states: Sequence[State]) -> list[State]:
        """The states with their prompts as tokens, those after a look too."""
        turns = [look.then for state in states for look in state.looks.values() if look.then]
        prompts = iter(self([state.chat for state in [*states, *turns]]))
        read = [state._replace(prompt=next(prompts)) for state in states]
        for at, state in enumerate(read):
            looks = {
                label: look._replace(then=look.then and look.then._replace(prompt=next(prompts)))
                for label, look in state.looks.items()
            }
            read[at] = state._replace(looks=looks)
        return read


def passes(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Prompts of like length together, as many as fit into ``most`` tokens with padding.

    >>> passes([5, 50, 6], 20)
    [[0, 2], [1]]
    """
    found: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not found or lengths[i] * (len(found[-1]) + 1) > most:
            found.append([])
        found[-1].append(i)
    return found


_here: Encoder | None = None


def open_worker(wording: Wording) -> None:
    """What a worker process keeps for all its episodes."""
    global _here
    _here = Encoder(wording)


class Here(Executor):
    """A pool of one: this process."""

    def __init__(self, wording: Wording) -> None:
        open_worker(wording)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def open_pool(workers: int, wording: Wording) -> Executor:
    """Threads of torch do not survive a fork, so workers start afresh."""
    if workers == 1:
        return Here(wording)
    return ProcessPoolExecutor(workers, get_context("spawn"), open_worker, (wording,))


def read_states_of(recipe: Recipe, index: int, progress: float) -> list[State]:
    """In a worker. Tokens alone go back: texts would be read again for nothing."""
    assert _here is not None, "open_worker comes first"
    return [_bare(state) for state in _here.read(states_of(recipe, index, progress))]


def _bare(state: State) -> State:
    looks = {
        k: look._replace(then=look.then and _bare(look.then)) for k, look in state.looks.items()
    }
    return state._replace(chat=(), looks=looks)
