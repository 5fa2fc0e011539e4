"""The answer of a policy to a decision request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from chaosops.core.actions import Action

Chat = tuple[Mapping[str, str], ...]  # messages in the form every model API takes


class Exchange(NamedTuple):
    """The prompt of one decision of a language model, and its reply.

    With more than one attempt, ``prompt`` also holds the replies that could not be read and the
    corrections that the model was sent. ``reply`` is the answer alone: reasoning before it was
    taken off, and ``reasoning_chars`` counts it. ``suspicion_lost``: the reply had to tell a
    suspicion, and told none that can be used.
    """

    prompt: Chat
    reply: str
    tokens_read: int
    tokens_written: int
    attempts: int = 1
    reasoning_chars: int = 0
    suspicion_lost: bool = False

    @property
    def question(self) -> Chat:
        """The prompt of the first attempt."""
        return self.prompt[: len(self.prompt) - 2 * (self.attempts - 1)]

    @property
    def corrections(self) -> Chat:
        """Each reply that could not be read, followed by its correction."""
        return self.prompt[len(self.prompt) - 2 * (self.attempts - 1) :]


class Decision(NamedTuple):
    """An action, the suspicion against each fleet agent, and the exchange of a language model.

    ``chances``: the probability that a local model gave to each action, by its words, the
    likeliest first. Those below ``LEAST_CHANCE`` are left out.
    """

    action: Action
    suspicion: Mapping[str, float] | None = None
    exchange: Exchange | None = None
    chances: Mapping[str, float] | None = None


LEAST_CHANCE = 0.005
