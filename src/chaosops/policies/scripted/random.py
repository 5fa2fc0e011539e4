"""Uniform over the verbs of a role, then over the targets of the verb."""

from __future__ import annotations

from collections.abc import Mapping

from chaosops.core.actions import Action
from chaosops.core.dice import Dice
from chaosops.policies.protocol import EVERY_PACK, ScriptedPolicy
from chaosops.roles.view import RoleView


class RandomPolicy(ScriptedPolicy):
    name = "random"
    help = "draws from what its role may do"
    evaluated_in = EVERY_PACK
    rank = 10

    def act(self, view: RoleView, dice: Dice) -> Action:
        groups = [group for group in view.rules.menu(view.role) if group]
        bits = dice.bits()
        group = groups[(bits >> 32) % len(groups)]
        return group[(bits & 0xFFFFFFFF) % len(group)]

    def suspect(self, view: RoleView, dice: Dice) -> Mapping[str, float]:
        return {agent: dice.unit() for agent in view.rules.agents}


POLICY = RandomPolicy
