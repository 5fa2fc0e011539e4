"""What a policy answers when it is its role's turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from chaosops.core.actions import Action

Chat = tuple[Mapping[str, str], ...]  # messages in the form every model API takes


class Exchange(NamedTuple):
    """What a language model was sent for one decision, and what it wrote.

    ``attempts`` above 1: a reply could not be read, and the model was shown its error;
    ``prompt`` is then the whole conversation.
    """

    prompt: Chat
    reply: str
    tokens_read: int
    tokens_written: int
    attempts: int = 1

    @property
    def question(self) -> Chat:
        """What the model was sent at first."""
        return self.prompt[: len(self.prompt) - 2 * (self.attempts - 1)]

    @property
    def corrections(self) -> Chat:
        """Each reply that could not be read, and what the model was told about it."""
        return self.prompt[len(self.prompt) - 2 * (self.attempts - 1) :]


class Decision(NamedTuple):
    """A policy's answer: the action, how suspicious each fleet agent looks, and, where a
    language model decided, its exchange."""

    action: Action
    suspicion: Mapping[str, float] | None = None
    exchange: Exchange | None = None
