"""The body of a request to an endpoint, and the fields of it that a server may not know."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from chaosops.core.chain import prompt_hash, read_json
from chaosops.core.decision import Chat
from chaosops.core.errors import BadInput
from chaosops.policies.llm.spec import ModelSpec

MAX_TOKENS = {"json": 500, "menu": 8}
# Fields that have another cure than being left out.
_TAKEN = {
    "model": "name it in openai:MODEL@URL",
    "messages": "the prompt is the role's view; write +prompt=FILE for a system prompt",
    "temperature": "write +temperature=",
    "max_tokens": "write +max_tokens=",
    "max_completion_tokens": "write +max_tokens=",
    "seed": "it follows from the prompt",
    "n": "a role gives one reply",
    "stream": "replies are read whole",
    "response_format": "it is the schema of the role's actions",
    "logprobs": "they are asked for where suspicion needs them",
    "top_logprobs": "they are asked for where suspicion needs them",
    "tools": "a reply is text",
    "tool_choice": "a reply is text",
}
_REFUSABLE = ("max_tokens", "temperature", "seed")


class Questions:
    """``refused`` holds the names of fields that the server does not take: it is sent
    ``max_completion_tokens`` instead of ``max_tokens``, and nothing instead of the others."""

    def __init__(self, spec: ModelSpec, format_name: str) -> None:
        self._model = spec.model
        self.temperature = spec.number("temperature", 0.0)
        self.max_tokens = int(spec.number("max_tokens", MAX_TOKENS[format_name], least=1))
        self.extra = read_extra(spec.options["extra"]) if "extra" in spec.options else {}
        # A temperature that somebody asked for is not left out.
        self._fixed = {"temperature"} & spec.options.keys()

    def body(self, chat: Chat, refused: Collection[str]) -> dict[str, Any]:
        """Its seed follows from the prompt. One that followed from the episode's seed would let
        a server find out which episode it plays."""
        body: dict[str, Any] = {"model": self._model, "messages": list(chat)}
        if "temperature" not in refused:
            body["temperature"] = self.temperature
        if "seed" not in refused:
            body["seed"] = int(prompt_hash(chat), 16) % 2**31
        limit = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
        return body | {limit: self.max_tokens} | dict(self.extra)

    def blamed(self, said: str, refused: Collection[str]) -> str | None:
        """The field that a server's refusal names, if it can be left out or called otherwise."""
        if re.search(r"context length|too (large|long|many)|exceed", said, re.IGNORECASE):
            return None  # of the prompt, not of a field that is unknown
        for name in _REFUSABLE:
            named = re.search(rf"(?<![A-Za-z_]){name}(?![A-Za-z_])", said)
            if named and name not in refused and name not in self._fixed:
                return name
        return None


def read_extra(text: str) -> Mapping[str, Any]:
    """
    >>> read_extra('{"reasoning_effort":"low"}')
    {'reasoning_effort': 'low'}
    """
    try:
        extra = read_json(text)
    except ValueError as error:
        raise BadInput(f"extra={text:.60} is not JSON: {error}") from None
    if not isinstance(extra, dict) or not extra:
        raise BadInput(f'extra={text:.60}: expected an object such as {{"top_p":0.9}}')
    if not text.isascii() or not text.isprintable():
        raise BadInput("extra must be printable ASCII, because it is part of the policy's name")
    for name, cure in _TAKEN.items():
        if name in extra:
            raise BadInput(f"extra must not hold {name}: {cure}")
    return extra
