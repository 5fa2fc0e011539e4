"""A lookup table over the text: the first word that matches decides."""

from __future__ import annotations

from collections.abc import Mapping

from chaosops.core.actions import Action
from chaosops.core.dice import Dice
from chaosops.policies.protocol import ScriptedPolicy, is_company
from chaosops.policies.scripted.arena import keyword as arena_keyword
from chaosops.policies.scripted.classic import keyword as classic_keyword
from chaosops.roles.view import RoleView


class KeywordPolicy(ScriptedPolicy):
    name = "keyword"

    def act(self, view: RoleView, dice: Dice) -> Action:
        return arena_keyword.act(view) if is_company(view) else classic_keyword.act(view)

    def suspect(self, view: RoleView, dice: Dice) -> Mapping[str, float]:
        return arena_keyword.suspect(view)
