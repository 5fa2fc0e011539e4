"""The behaviour policy, which plays while turns are collected. It is often right, sometimes audits
or inspects, and sometimes makes mistakes. So the turns have services to repair, evidence to read
and messages that are wrong."""

from __future__ import annotations

from chaosops.core.actions import Action, Audit, IdentifyRootCause, Inspect, Noop, Remedy
from chaosops.core.decision import Decision
from chaosops.core.dice import Dice
from chaosops.core.vocabulary import Role
from chaosops.policies.chat import diagnosis
from chaosops.policies.scripted.arena import heuristic
from chaosops.roles.menu import menu
from chaosops.roles.view import RoleView
from chaosops.rollout import Rollout, advance

_QUIET = 0.3  # share of episodes with late repairs, which leave time for audits
_MISLED = 0.2  # share of episodes in which a wrong cause is named and believed
_BELIEVES = 0.7
_ORACLE_ACTS = {True: 0.25, False: 0.55}
_LOOKS = 0.85
_IDLES = 0.93


class Behaviour:
    """The behaviour in one episode. The oracle plays every role of the rollout."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._quiet = dice.unit() < _QUIET
        self._misled = dice.unit() < _MISLED

    def play(self, rollout: Rollout) -> None:
        """Play one turn."""
        dice, view = self._dice, rollout.env.view
        choices = list(menu(view).values())
        if self._misled and (action := self._mistake(view, choices)):
            rollout.env.play(Decision(action))
            return
        draw = dice.unit()
        if draw < _ORACLE_ACTS[self._quiet]:
            advance([rollout])
            return
        looks = [action for action in choices if isinstance(action, Audit | Inspect)]
        if looks and draw < _LOOKS:
            action = dice.pick(looks)
        elif draw < _IDLES:
            action = Noop()
        else:
            action = dice.pick(choices)
        rollout.env.play(Decision(action))

    def _mistake(self, view: RoleView, choices: list[Action]) -> Action | None:
        """Name a random cause, or repair the cause that was named. If the Developer can name
        causes too, nobody is misled."""
        if view.rules.may(Role.DEV, "identify_root_cause"):
            return None
        named = diagnosis(view)
        if view.role is Role.SRE and named is None:
            return self._dice.pick([a for a in choices if isinstance(a, IdentifyRootCause)])
        is_known = bool(view.rules.runbook) and named in view.rules.causes
        if view.role is Role.DEV and is_known and self._dice.unit() < _BELIEVES:
            return _remedy(view)
        return None


def _remedy(view: RoleView) -> Action | None:
    """What the company's runbook says against the cause that was named."""
    action = heuristic.dev(view)
    return action if isinstance(action, Remedy) else None
