"""Replies that follow from the prompt alone, for Inspect's mock model and for a loopback server."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

READ, WRITTEN = 100, 10  # tokens of every answer


class Reply(NamedTuple):
    text: str
    top: list[tuple[str, float]]  # the likeliest first tokens and their log-probabilities


def reply_to(messages: Sequence[Mapping[str, str]]) -> Reply:
    """An action that is allowed or not, or prose that cannot be read, by the prompt's hash."""
    words = json.dumps([[message["role"], message["content"]] for message in messages])
    number = int(hashlib.sha256(words.encode()).hexdigest(), 16)
    system, user = messages[0]["content"], messages[1]["content"]
    if "letter of one action" in system:
        return _letter(system + "\n" + user, number)
    choices = ['{"action":"noop"}', '{"action":"communicate","message":"on it"}', "Let me think."]
    if agents := re.search(r"^Agents: (.*)$", system, re.M):
        names = agents[1].split(", ")
        agent, sure = names[number // 7 % len(names)], number // 97 % 10 / 10
        choices += [
            json.dumps({"action": "flag_rogue", "target": agent, "confidence": sure}),
            json.dumps({"action": "audit", "target": agent}),
        ]
    return Reply(choices[number % len(choices)], [])


def _letter(prompt: str, number: int) -> Reply:
    labels = list(dict.fromkeys(re.findall(r"\b[A-Za-z]\b(?= \w)", prompt)))[:8] or ["A"]
    weights = [1 + (number >> 3 * place) % 8 for place in range(len(labels))]
    total = sum(weights)
    top = [(label, math.log(w / total)) for label, w in zip(labels, weights, strict=True)]
    return Reply(labels[number % len(labels)], top)


def as_openai(body: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a server."""
    text, top = reply_to(body["messages"])
    choice: dict[str, Any] = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
    }
    if body.get("logprobs"):
        tops = [{"token": token, "logprob": logprob} for token, logprob in top]
        first = {"token": text, "logprob": dict(top).get(text, 0.0), "top_logprobs": tops}
        choice["logprobs"] = {"content": [first]}
    usage = {"prompt_tokens": READ, "completion_tokens": WRITTEN}
    return {"model": "fake-1", "choices": [choice], "usage": usage}
