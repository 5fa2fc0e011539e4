"""The best possible return, by exact search. For packs with a small state space.

The search tries every legal action in every state that rewards can tell apart, so its result is
the optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chaosops.core.actions import Action
from chaosops.core.decision import Decision
from chaosops.core.events import Events
from chaosops.core.vocabulary import role_on_turn
from chaosops.policies.protocol import DecisionRequest, RegisteredPolicy
from chaosops.rubrics import CompositeRubric, standard
from chaosops.world import engine
from chaosops.world.engine import World


class ExactSearch:
    """The best return from any world, over all episodes whose every step ``allows`` accepts."""

    def __init__(
        self,
        rubric: CompositeRubric | None = None,
        allows: Callable[[Events], bool] = lambda events: True,
    ) -> None:
        self._rubric = rubric or standard()
        self._allows = allows
        self._best: dict[object, tuple[float, Action | None]] = {}

    def best(self, world: World) -> tuple[float, Action | None]:
        """(return of the rest of the episode, first action). No action after the end."""
        public, truth = world
        if truth.over:
            return 0.0, None
        key = (
            truth.scenario.pack,
            truth.scenario.failure,
            truth.scenario.limit,
            truth.incident.reward_key(truth.state, public.step, truth.flagged),
            truth.cause_named,
        )
        known = self._best.get(key)
        if known is None:
            known = self._best[key] = self._search(world)
        return known

    def _search(self, world: World) -> tuple[float, Action | None]:
        role = role_on_turn(world.public.step)
        best: tuple[float, Action | None] = (float("-inf"), None)
        for action in world.public.rules.legal_actions(role):
            after, events = engine.step(world, role, action)
            if not self._allows(events):
                continue
            value = self._rubric.score(events).total + self.best(after)[0]
            if value > best[0]:
                best = (value, action)
        return best


class OptimalPolicy(RegisteredPolicy):
    name = "optimal"
    help = "the best possible return, by exact search; classic pack only"
    sees_truth = True
    on_page = False
    rank = 95

    def __init__(self) -> None:
        self._search = ExactSearch()

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        return [Decision(self._choose(request.world)) for request in requests]

    def _choose(self, world: object) -> Action:
        assert isinstance(world, World), "sees_truth brings the world along"
        action = self._search.best(world)[1]
        assert action is not None, "an episode that is not over has an action left"
        return action

    def status(self) -> Mapping[str, Any]:
        return {"kind": "search", "policy": self.name, "sees_truth": self.sees_truth}


POLICY = OptimalPolicy
