"""Uniform over the verbs a role may use, then over what they can be used on."""

from __future__ import annotations

from collections.abc import Mapping

from chaosops.core.actions import Action
from chaosops.core.dice import Dice
from chaosops.policies.protocol import ScriptedPolicy
from chaosops.roles.view import RoleView


class RandomPolicy(ScriptedPolicy):
    name = "random"

    def act(self, view: RoleView, dice: Dice) -> Action:
        groups = view.rules.menu(view.role)
        bits = dice.bits()
        group = groups[(bits >> 32) % len(groups)]
        return group[(bits & 0xFFFFFFFF) % len(group)]

    def suspect(self, view: RoleView, dice: Dice) -> Mapping[str, float]:
        return {agent: dice.unit() for agent in view.rules.agents}
