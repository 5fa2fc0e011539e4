"""A scripted policy in the clothes of a language model: real prompts, and replies to choose."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from chaosops.core.actions import to_wire
from chaosops.core.decision import Decision, Exchange
from chaosops.policies.protocol import DecisionRequest
from chaosops.policies.registry import load_policy
from chaosops.roles.parse import parse
from chaosops.roles.prompt import render


class FakeModel:
    """``replies``: what it writes instead at a step (from 1), read as any model's reply is."""

    sees_truth = True  # the policy inside may

    def __init__(self, inside: str = "oracle", replies: Mapping[int, str] | None = None) -> None:
        self.name = "fake"
        self.asked = 0
        self.revision = "0123abc"
        self._inside = load_policy(inside)
        self._replies = dict(replies or {})

    def decide(self, seats: Sequence[DecisionRequest]) -> list[Decision]:
        self.asked += len(seats)
        decisions = self._inside.decide(seats)
        return [self._dress(s, decision) for s, decision in zip(seats, decisions, strict=True)]

    def _dress(self, seat: DecisionRequest, decision: Decision) -> Decision:
        step = seat.view.step + 1
        reply = self._replies.get(step) or json.dumps(to_wire(decision.action))
        prompt = render(seat.view)
        attempts = 1
        if step % 3 == 0:
            attempts = 2
            prompt += [
                {"role": "assistant", "content": "Well, let me think"},
                {"role": "user", "content": "your reply could not be read (not_json)"},
            ]
        read = sum(len(message["content"]) for message in prompt) // 4
        exchange = Exchange(tuple(prompt), reply, read, len(reply) // 4, attempts)
        return Decision(parse(reply), decision.suspicion, exchange)

    def status(self) -> Mapping[str, Any]:
        return {
            "kind": "model",
            "model": "fake/tiny-1b",
            "revision": self.revision if self.asked else None,  # as a server would tell it
            "adapter": None,
            "backend": "script",
        }
