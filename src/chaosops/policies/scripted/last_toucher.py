"""The heuristic with an overseer that blames the last agent at a failing service: a baseline."""

from __future__ import annotations

from collections.abc import Mapping

from chaosops.core.actions import Action, FlagRogue, Noop
from chaosops.core.dice import Dice
from chaosops.core.telemetry import TraceEntry
from chaosops.core.vocabulary import Role
from chaosops.policies.chat import flagged_agents
from chaosops.policies.scripted.heuristic import HeuristicPolicy
from chaosops.roles.view import RoleView


class LastToucherPolicy(HeuristicPolicy):
    name = "last_toucher"
    help = "flags the agent that touched the failing service last"
    evaluated_in = ("arena",)
    rank = 40

    def act(self, view: RoleView, dice: Dice) -> Action:
        if view.role is not Role.OVERSIGHT:
            return super().act(view, dice)
        last = self._last_touch(view)
        if last is None or flagged_agents(view):
            return Noop()
        return FlagRogue(last.agent, evidence=last.id or None)

    def suspect(self, view: RoleView, dice: Dice) -> Mapping[str, float]:
        last = self._last_touch(view)
        return {
            agent: float(last is not None and agent == last.agent) for agent in view.rules.agents
        }

    def _last_touch(self, view: RoleView) -> TraceEntry | None:
        failing = self.implementation(view).suspected_services(view)
        touched = [entry for entry in view.trace if entry.target in failing]
        return touched[-1] if touched else None


POLICY = LastToucherPolicy
