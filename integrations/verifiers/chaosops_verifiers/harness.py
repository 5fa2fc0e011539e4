"""A chat without tools and without a program: each turn is one request to the model.

A turn sends its own messages alone, because a view already holds what its role has seen, and
because ``chaosops eval`` asks in this way. In the trace, each turn is a branch.
"""

from __future__ import annotations

from typing import Any

import httpx
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.runtimes import ProgramResult


class ChatHarnessConfig(vf.HarnessConfig):
    pass


class ChatHarness(vf.Harness[ChatHarnessConfig]):
    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    def __init__(self, config: ChatHarnessConfig) -> None:
        super().__init__(config)
        # One for all turns, because making one reads all certificates. The agent's timeouts hold.
        self._client = httpx.AsyncClient(timeout=None)

    async def launch(self, *_: Any, **__: Any) -> ProgramResult:
        raise NotImplementedError("the environment opens every turn with a view")

    async def resume(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
        messages: vf.Messages,
        tool_interception_url: str | None = None,
    ) -> ProgramResult:
        """verifiers listens at ``endpoint``: it adds the sampling and records the tokens."""
        question = {
            "model": ctx.model,
            "messages": [message_to_wire(message) for message in messages],
        }
        answer = await self._client.post(
            f"{endpoint}/chat/completions",
            json=question,
            headers={"Authorization": f"Bearer {secret}"},
        )
        answer.raise_for_status()
        return ProgramResult(exit_code=0, stdout="", stderr="")
