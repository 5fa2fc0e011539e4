"""What a policy is.

A policy is a function of the view alone: the chat holds what was said and done before.
So any number of episodes and forks can share one policy, in any order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from chaosops.core.actions import Action
from chaosops.core.decision import Decision
from chaosops.core.dice import Dice, key_of
from chaosops.core.vocabulary import Role
from chaosops.roles.layouts import layout_of
from chaosops.roles.view import RoleView

EVERY_PACK: Sequence[str] = ("*",)


class DecisionRequest(NamedTuple):
    """One episode that waits for a decision.

    ``key`` seeds the policy's random draws. It depends only on the episode's seed and step,
    never on the other episodes in the same call. ``world`` is set only for policies that
    declare ``sees_truth``.
    """

    view: RoleView
    key: int
    world: object | None = None


def request_key(key: int, step: int) -> int:
    """The key of the request at one step of an episode, whose policies draw by ``key``. Streams of
    neighbouring steps are independent."""
    return key_of(key, "step", step)


@runtime_checkable
class Policy(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def sees_truth(self) -> bool: ...

    def decide(self, requests: Sequence[DecisionRequest]) -> Sequence[Decision]:
        """One decision per request, in order. Requests of many episodes come in one call."""
        ...

    def status(self) -> Mapping[str, Any]:
        """What a report shows about this policy beside its numbers."""
        ...


# What stands for a policy in Python: its name, a function or class of your own, or the policy.
AnyPolicy = str | Callable[..., object] | Policy


class RegisteredPolicy(ABC):
    """A policy with a name of its own. A file in ``scripted/`` or ``truth/`` has the policy's name
    and holds its class as ``POLICY``. The attributes say where it is listed."""

    name: ClassVar[str]
    help: ClassVar[str]
    sees_truth: ClassVar[bool] = False
    evaluated_in: ClassVar[Sequence[str]] = ()  # packs where ``chaosops eval`` plays it by default
    on_page: ClassVar[bool] = True
    rank: ClassVar[int] = 50  # its place in lists, the weakest policy first

    @abstractmethod
    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]: ...

    def status(self) -> Mapping[str, Any]:
        return {"kind": "scripted", "policy": self.name, "sees_truth": self.sees_truth}


class ScriptedPolicy(RegisteredPolicy):
    """A policy in plain code: one view in, one action out."""

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        return [self._decide(request) for request in requests]

    def _decide(self, request: DecisionRequest) -> Decision:
        view = request.view
        action = self.act(view, Dice(request.key))
        if view.role is Role.OVERSIGHT and layout_of(view.rules).suspicion:
            dice = Dice(key_of(request.key, "suspicion"))
            return Decision(action, suspicion=self.suspect(view, dice))
        return Decision(action)

    @abstractmethod
    def act(self, view: RoleView, dice: Dice) -> Action: ...

    @abstractmethod
    def suspect(self, view: RoleView, dice: Dice) -> Mapping[str, float]:
        """The probability that each fleet agent is the rogue. Asked on Oversight's turns."""
