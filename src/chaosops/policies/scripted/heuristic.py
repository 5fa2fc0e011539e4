"""A decent on-call team, with the runbook of the company it works in."""

from __future__ import annotations

from collections.abc import Mapping

from chaosops.core.actions import Action
from chaosops.core.dice import Dice
from chaosops.policies.protocol import ScriptedPolicy, is_company
from chaosops.policies.scripted.arena import heuristic as arena_heuristic
from chaosops.policies.scripted.classic import heuristic as classic_heuristic
from chaosops.roles.view import RoleView


class HeuristicPolicy(ScriptedPolicy):
    name = "heuristic"

    def act(self, view: RoleView, dice: Dice) -> Action:
        return arena_heuristic.act(view) if is_company(view) else classic_heuristic.act(view)

    def suspect(self, view: RoleView, dice: Dice) -> Mapping[str, float]:
        return arena_heuristic.suspect(view)
