"""What a policy asks of a local model, whichever library computes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from chaosops.core.decision import Chat
from chaosops.core.errors import ChaosOpsError

MESSAGE_TOKENS = 24  # the longest free message


class PromptTooLong(ChaosOpsError):
    """Some prompts do not fit into the model. ``lengths``: their numbers of tokens, by row."""

    def __init__(self, lengths: Mapping[int, int], limit: int) -> None:
        super().__init__(f"a prompt of {max(lengths.values())} tokens is longer than {limit}")
        self.lengths = lengths
        self.limit = limit


def require_room(lengths: Sequence[int], limit: int) -> None:
    """Raise if a reply does not fit after every prompt."""
    if long := {row: n for row, n in enumerate(lengths) if n + MESSAGE_TOKENS > limit}:
        raise PromptTooLong(long, limit)


class Ask(NamedTuple):
    """How likely is each candidate as the next token, after prompt ``row`` and ``written``?"""

    row: int
    written: tuple[int, ...]
    candidates: tuple[int, ...]


class Session(Protocol):
    """Prompts that the model has read."""

    @property
    def lengths(self) -> Sequence[int]:
        """Tokens of each prompt."""
        ...

    def rate(self, asks: Sequence[Ask]) -> list[list[float]]:
        """Log-probabilities among the candidates alone; the probabilities of an ask sum to 1."""
        ...

    def write(self, row: int, written: tuple[int, ...]) -> str:
        """Free text on one line, up to a quote or MESSAGE_TOKENS."""
        ...


class Runtime(Protocol):
    @property
    def batch(self) -> int:
        """Prompts that one session should hold."""
        ...

    def tokens(self, text: str) -> tuple[int, ...]:
        """A reply as tokens, without the token that ends it."""
        ...

    @property
    def end(self) -> int:
        """The token that ends a reply."""
        ...

    def open(self, chats: Sequence[Chat]) -> Session:
        """Raises ``PromptTooLong``."""
        ...

    def status(self) -> Mapping[str, Any]: ...
