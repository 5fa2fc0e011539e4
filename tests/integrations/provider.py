"""A model provider for Inspect whose replies follow from the prompt: ``--model prompted/any``."""

from __future__ import annotations

from typing import Any

from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi

from tests.integrations.replies import READ, WRITTEN, reply_to


@modelapi(name="prompted")
class Prompted(ModelAPI):  # type: ignore[misc]
    async def generate(
        self, input: list[Any], tools: object, tool_choice: object, config: object
    ) -> ModelOutput:
        text = reply_to([{"role": each.role, "content": each.text} for each in input]).text
        output = ModelOutput.from_content("prompted/any", text)
        total = READ + WRITTEN
        output.usage = ModelUsage(input_tokens=READ, output_tokens=WRITTEN, total_tokens=total)
        return output
