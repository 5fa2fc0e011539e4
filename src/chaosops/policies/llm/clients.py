"""What an endpoint's policy asks of the client that takes its questions to a model."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, TypeVar

from chaosops.policies.llm.answers import Answer

T = TypeVar("T")


class Client(Protocol):
    @property
    def url(self) -> str: ...

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Wait for work that calls ``complete``."""
        ...

    async def complete(
        self, question: Mapping[str, Any], key: int, patience_s: float | None = None
    ) -> Answer:
        """The answer to a question in the form of OpenAI's chat API."""
        ...
