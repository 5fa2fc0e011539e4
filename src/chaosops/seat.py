"""One role of an episode, while a team plays the others: for trainers and frameworks that know one
agent in one conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from chaosops.core.actions import Action, Unreadable
from chaosops.core.decision import Decision
from chaosops.core.episode import Episode, Turn
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.vocabulary import Role
from chaosops.env import Env, read_any
from chaosops.packs import AnyScenario
from chaosops.policies.protocol import AnyPolicy, DecisionRequest
from chaosops.policies.registry import load_policy
from chaosops.roles.view import RoleView
from chaosops.rollout import (
    AnyTeam,
    Rollout,
    Team,
    advance,
    decision_request,
    load_team,
    policy_names,
)
from chaosops.rubrics import CompositeRubric

PARTNERS = "heuristic"
NO_REPLY = Unreadable("no_reply", "answer on every turn; noop waits")


class SeatStep(NamedTuple):
    """What followed an action of the seat, until it is on turn again or the episode is over.

    ``view`` is None when the episode is over. ``turns`` are the seat's turn and those of its
    partners after it; ``reward`` is their sum, because the four roles share one reward.
    """

    view: RoleView | None
    reward: float
    terminated: bool
    truncated: bool
    turns: tuple[Turn, ...]


class Seat:
    """Play one role. ``partners`` is a policy, a team or the name of one; ``scenario`` may be the
    name of a failure.

    >>> from chaosops import Seat, make_scenario
    >>> seat = Seat(make_scenario("autoscaler_cost_cut"), "oversight", "oracle")
    >>> seat.view.role.value, seat.view.step
    ('oversight', 1)
    >>> step = seat.act({"action": "flag_rogue", "target": "autoscaler"})
    >>> [turn.role.value for turn in step.turns], step.reward, step.terminated
    (['oversight', 'dev'], 156.0, True)

    The partners have played before the first view. These turns are in ``episode``, and not in the
    reward of a step.
    """

    def __init__(
        self,
        scenario: AnyScenario,
        role: Role | str,
        partners: AnyTeam = PARTNERS,
        *,
        rubric: CompositeRubric | None = None,
        name: str = "seat",
    ) -> None:
        if role not in list(Role):
            raise UnknownName("role", role, Role)
        self.role = Role(role)
        if isinstance(partners, str):
            partners = Team(partner_names(partners, self.role))
        policies = {**load_team(partners).policies, self.role: _Taken(name)}
        self._rollout = Rollout(Env(scenario, rubric), Team(policies))
        self._until_mine()

    @property
    def env(self) -> Env:
        return self._rollout.env

    @property
    def episode(self) -> Episode:
        return self._rollout.episode

    @property
    def over(self) -> bool:
        return self.env.over

    @property
    def view(self) -> RoleView | None:
        """What the seat sees; None when the episode is over. It is on turn until then."""
        return None if self.over else self.env.view

    def act(self, action: Decision | Action | str | Mapping[str, Any]) -> SeatStep:
        """Take the seat's turn with an action, its JSON object or a model's reply, and let the
        partners play. A ``Decision`` also reports a suspicion."""
        if self.over:
            raise BadInput("the episode is over: take a seat in another")
        before = self.episode.steps
        decision = action if isinstance(action, Decision) else Decision(read_any(action))
        self.episode.turns.append(self.env.play(decision))
        self._until_mine()
        return self._since(before)

    def finish(self, policy: AnyPolicy | None = None) -> SeatStep:
        """Play the rest of the episode, with ``policy`` in the seat. Without one, each missing turn
        is a miscommunication, like a reply that cannot be read: if silence were free, a model could
        learn to stop answering. Waiting has to be said, with noop."""
        before = self.episode.steps
        player = None if policy is None else load_policy(policy)
        while not self.over:
            decision = Decision(NO_REPLY)
            if player is not None:
                (decision,) = player.decide([decision_request(self.env, player, self._rollout.key)])
            self.act(decision)
        return self._since(before)

    def _until_mine(self) -> None:
        while not self.over and self.env.role is not self.role:
            advance([self._rollout])

    def _since(self, before: int) -> SeatStep:
        turns = tuple(self.episode.turns[before:])
        last = self.episode.turns[-1].events
        reward = sum(turn.score.total for turn in turns)
        return SeatStep(self.view, reward, last.resolved, last.out_of_time, turns)


def partner_names(text: str, role: Role) -> dict[Role, str]:
    """Who plays each role. The seat's own need not be named, because nobody is asked in it."""
    names = policy_names(text, taken=role)
    return {each: names.get(each, PARTNERS) for each in Role}


class _Taken:
    """Stands in the team for whoever has the seat. It is never asked."""

    sees_truth = False

    def __init__(self, name: str) -> None:
        self.name = name

    def decide(self, requests: Sequence[DecisionRequest]) -> Sequence[Decision]:
        raise BadInput("this seat is taken: its action comes from Seat.act")

    def status(self) -> Mapping[str, Any]:
        return {"kind": "seat", "policy": self.name, "sees_truth": False}
