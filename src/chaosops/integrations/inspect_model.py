"""A model of Inspect as a policy. It is asked and read exactly like a model behind an endpoint."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from anyio import from_thread
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
)
from inspect_ai.util import span

from chaosops.core.vocabulary import Role
from chaosops.policies.llm.answers import Answer
from chaosops.policies.llm.endpoint import TOP_LOGPROBS, EndpointPolicy
from chaosops.policies.llm.spec import ModelSpec
from chaosops.roles.view import RoleView

T = TypeVar("T")
_MESSAGES: Mapping[str, Callable[..., ChatMessage]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


class InspectClient:
    """Takes the questions of one role in one sample to the model. Inspect sees to retries, limits,
    caching and the log."""

    def __init__(self, model: Model, role: Role, epoch: int) -> None:
        self.url = str(model)
        self._model = model
        self._role = role
        self._epoch = epoch

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """From the episode's thread to Inspect's event loop."""
        result: T = from_thread.run(work)
        return result

    async def complete(
        self, question: Mapping[str, Any], key: int, patience_s: float | None = None
    ) -> Answer:
        config = GenerateConfig(
            # With the same seed, all epochs would be the same.
            seed=question["seed"] + self._epoch - 1,
            logprobs=question.get("logprobs"),
            top_logprobs=question.get("top_logprobs"),
        )
        async with span(self._role.value):
            output = await self._model.generate(as_messages(question["messages"]), config=config)
        usage, choice = output.usage, output.choices[0] if output.choices else None
        logprobs = choice.logprobs if choice else None
        return Answer(
            # A lone surrogate cannot be written to a file.
            text=output.completion.encode("utf-8", "replace").decode(),
            finish_reason="length" if choice and choice.stop_reason == "max_tokens" else "",
            tokens_read=usage.input_tokens if usage else None,
            tokens_written=usage.output_tokens if usage else None,
            revision=output.model,
            logprobs=logprobs.model_dump() if logprobs else None,
        )


class InspectPolicy(EndpointPolicy):
    def __init__(self, model: Model, role: Role, epoch: int, format_name: str) -> None:
        name = str(model)
        spec = ModelSpec(name, "inspect", model.name, options={"format": format_name})
        super().__init__(spec, InspectClient(model, role, epoch))

    def _wishes(self, view: RoleView) -> tuple[str, list[dict[str, Any]]]:
        """No schema: providers differ in what they take, and a refusal would end the sample."""
        if self._format.name == "menu" and view.role is Role.OVERSIGHT:
            return "logprobs", [{"logprobs": True, "top_logprobs": TOP_LOGPROBS}, {}]
        return "", [{}]


def as_messages(chat: Any) -> list[ChatMessage]:
    return [_MESSAGES[message["role"]](content=message["content"]) for message in chat]
