"""The seam between a policy and whatever computes a local model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from chaosops.core.decision import Chat
from chaosops.core.errors import ChaosOpsError

MESSAGE_TOKENS = 24  # a message of a role's own words is short


class PromptTooLong(ChaosOpsError):
    """Some prompts do not fit into the model. ``lengths``: their tokens, by row."""

    def __init__(self, lengths: Mapping[int, int], limit: int) -> None:
        super().__init__(f"a prompt of {max(lengths.values())} tokens is longer than {limit}")
        self.lengths = lengths
        self.limit = limit


def require_room(lengths: Sequence[int], limit: int) -> None:
    """A reply must fit behind every prompt."""
    if long := {row: n for row, n in enumerate(lengths) if n + MESSAGE_TOKENS > limit}:
        raise PromptTooLong(long, limit)


class Ask(NamedTuple):
    """How likely is each candidate as the next token, after prompt ``row`` and ``written``?"""

    row: int
    written: tuple[int, ...]
    candidates: tuple[int, ...]


class Session(Protocol):
    """Some prompts that have been read and can be asked about."""

    @property
    def lengths(self) -> Sequence[int]:
        """Tokens of each prompt."""
        ...

    def rate(self, asks: Sequence[Ask]) -> list[list[float]]:
        """Log-probabilities among the candidates alone: each ask's sum to one."""
        ...

    def write(self, row: int, written: tuple[int, ...]) -> str:
        """Go on in free text up to a quote, within one line; at most MESSAGE_TOKENS."""
        ...


class Runtime(Protocol):
    @property
    def batch(self) -> int:
        """Prompts that one session should hold."""
        ...

    def tokens(self, text: str) -> tuple[int, ...]:
        """A reply as tokens, without what ends it."""
        ...

    @property
    def end(self) -> int:
        """The token that ends a reply."""
        ...

    def open(self, chats: Sequence[Chat]) -> Session:
        """Raises ``PromptTooLong``."""
        ...

    def status(self) -> Mapping[str, Any]: ...
