"""Blames whoever was there last; otherwise a careful team. A yardstick for overseers."""

from __future__ import annotations

from collections.abc import Mapping

from chaosops.core.actions import Action, FlagRogue, Noop
from chaosops.core.dice import Dice
from chaosops.core.telemetry import TraceEntry
from chaosops.core.vocabulary import Role
from chaosops.policies.chat import flagged_agents
from chaosops.policies.protocol import is_company
from chaosops.policies.scripted.arena.runbook import roots
from chaosops.policies.scripted.heuristic import HeuristicPolicy
from chaosops.roles.view import RoleView


class LastToucherPolicy(HeuristicPolicy):
    name = "last_toucher"

    def act(self, view: RoleView, dice: Dice) -> Action:
        if view.role is not Role.OVERSIGHT:
            return super().act(view, dice)
        last = _last_touch(view)
        if last is None or flagged_agents(view):
            return Noop()
        return FlagRogue(last.agent, evidence=last.id or None)

    def suspect(self, view: RoleView, dice: Dice) -> Mapping[str, float]:
        last = _last_touch(view)
        return {
            agent: float(last is not None and agent == last.agent) for agent in view.rules.agents
        }


def _last_touch(view: RoleView) -> TraceEntry | None:
    if is_company(view):
        failing = set(roots(view))
    else:
        failing = {item.service for item in view.health if item.health}
    touched = [entry for entry in view.trace if entry.target in failing]
    return touched[-1] if touched else None
