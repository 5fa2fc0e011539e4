"""The learner as a policy: it plays while it learns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from chaosops.core.actions import FlagRogue
from chaosops.core.decision import Decision
from chaosops.core.vocabulary import Role
from chaosops.policies.chat import with_accusations
from chaosops.policies.protocol import DecisionRequest
from chaosops.roles.menu import menu
from chaosops.roles.prompt import Style, render
from chaosops.training.learner import LABELS, Learner


class LearnerPolicy:
    """Takes its likeliest action."""

    sees_truth = False

    def __init__(self, learner: Learner) -> None:
        self.name = "learner"
        self._learner = learner

    def status(self) -> Mapping[str, Any]:
        return {"kind": "model", "policy": self.name, "sees_truth": False, "format": "menu"}

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        prompts = self._learner.encode([tuple(render(s.view, Style.MENU)) for s in requests])
        rows = self._learner.chances_of(prompts, [list(menu(s.view)) for s in requests])
        return [self._decision(request, row) for request, row in zip(requests, rows, strict=True)]

    def _decision(self, request: DecisionRequest, row: Sequence[float]) -> Decision:
        choices = menu(request.view)
        chances = {label: row[LABELS.index(label)] for label in choices}
        chosen = max(chances, key=chances.__getitem__)
        suspicion = None
        if request.view.role is Role.OVERSIGHT:
            now = {
                action.target: chances[label]
                for label, action in choices.items()
                if isinstance(action, FlagRogue)
            }
            suspicion = with_accusations(request.view, now)
        action = choices[chosen]
        if isinstance(action, FlagRogue) and suspicion is not None:
            action = replace(action, confidence=suspicion[action.target])
        return Decision(action, suspicion)
