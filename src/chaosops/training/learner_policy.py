"""The learner as a policy, for validation during a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from chaosops.core.actions import FlagRogue
from chaosops.core.decision import Decision
from chaosops.core.vocabulary import Role
from chaosops.policies.belief import decide, decides
from chaosops.policies.chat import suspicion_of
from chaosops.policies.protocol import DecisionRequest
from chaosops.roles.menu import menu
from chaosops.roles.prompt import Style, render
from chaosops.training.learner import Learner, column_of


class LearnerPolicy:
    """Takes the likeliest action; as Oversight that of its belief, if the recipe says so."""

    sees_truth = False

    def __init__(self, learner: Learner) -> None:
        self.name = "learner"
        self._learner = learner

    def status(self) -> Mapping[str, Any]:
        return {"kind": "model", "policy": self.name, "sees_truth": False, "format": "menu"}

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        prompts = self._learner.encode([tuple(render(r.view, Style.MENU)) for r in requests])
        rows = self._learner.probabilities(prompts, [list(menu(r.view)) for r in requests])
        return [self._decision(request, row) for request, row in zip(requests, rows, strict=True)]

    def _decision(self, request: DecisionRequest, row: Sequence[float]) -> Decision:
        choices = menu(request.view)
        probabilities = {label: row[column_of(label)] for label in choices}
        suspicion = None
        if request.view.role is Role.OVERSIGHT:
            told = ((action, probabilities[label]) for label, action in choices.items())
            suspicion = suspicion_of(request.view, told)
        chances = dict(enumerate(probabilities.values()))
        actions = list(choices.values())
        thresholds = self._learner.recipe.thresholds
        if thresholds and decides(request.view):
            action = actions[decide(request.view, actions, chances, thresholds)]
        else:
            action = actions[max(chances, key=chances.__getitem__)]
        if isinstance(action, FlagRogue) and suspicion is not None:
            action = replace(action, confidence=suspicion[action.target])
        return Decision(action, suspicion)
