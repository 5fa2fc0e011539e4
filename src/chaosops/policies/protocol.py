"""What a policy is.

A policy is a function of the view alone: what it said and did before stands in the chat.
So any number of episodes can share one policy, in any order, and forks need no care.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

from chaosops.core.actions import Action
from chaosops.core.decision import Decision
from chaosops.core.dice import Dice
from chaosops.core.vocabulary import Role
from chaosops.roles.view import RoleView


class DecisionRequest(NamedTuple):
    """One episode that waits for a decision.

    ``key`` seeds whatever the policy draws: it depends on the episode's seed and step
    only, never on which other episodes are decided in the same call. ``world`` is set
    for policies that declare ``sees_truth``, and for nobody else.
    """

    view: RoleView
    key: int
    world: object | None = None


class Policy(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def sees_truth(self) -> bool: ...

    def decide(self, requests: Sequence[DecisionRequest]) -> Sequence[Decision]:
        """One decision per request, in order. Many requests come at once: serve them together."""
        ...

    def status(self) -> Mapping[str, Any]:
        """What stands beside every number of this policy in a report."""
        ...


def is_company(view: RoleView) -> bool:
    """A generated company has a call graph; the classic pack has nothing of the kind."""
    return view.rules.is_company


class ScriptedPolicy(ABC):
    """A policy in plain code: one view in, one action out."""

    name: ClassVar[str]
    sees_truth: ClassVar[bool] = False

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        return [self._decide(request) for request in requests]

    def _decide(self, request: DecisionRequest) -> Decision:
        view = request.view
        action = self.act(view, Dice(request.key))
        if view.role is Role.OVERSIGHT and is_company(view):
            return Decision(action, suspicion=self.suspect(view, Dice(request.key + 1)))
        return Decision(action)

    def status(self) -> Mapping[str, Any]:
        return {"kind": "scripted", "policy": self.name, "sees_truth": self.sees_truth}

    @abstractmethod
    def act(self, view: RoleView, dice: Dice) -> Action: ...

    @abstractmethod
    def suspect(self, view: RoleView, dice: Dice) -> Mapping[str, float]:
        """How likely each fleet agent is the rogue, 0 to 1. Asked on Oversight's turns."""
