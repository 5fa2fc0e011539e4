"""Turns of companies whose runbook lacks the page of the fault.

Companies have every page, so a model that has learned from them alone takes the page that comes
nearest. These turns teach it to look and to talk instead. Without the page nobody can know what to
name, to repair or to flag, so every such action is worth less. Doing nothing is worth a little less
than looking: a model that learned to do nothing in doubt did so with the page, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from chaosops.core.actions import Action, Noop
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.evaluation.reading_cases import WAITS, answer_of
from chaosops.roles.menu import menu
from chaosops.roles.other_documents import view_without_page
from chaosops.roles.prompt import Style, render
from chaosops.roles.view import RoleView

READERS = (Role.SRE, Role.OVERSIGHT, Role.DEV)
# Points against looking. A guess: about a wrong fix, or a flag that is right every third time.
_GUESS = -30.0
_IDLE = -12.0


def without_page(env: Env) -> tuple[RoleView, dict[str, float]] | None:
    """What the role on turn sees without the page, and the return of each label; None where it
    does not see the page, or has nothing to guess."""
    public = env.world.public
    if env.role not in READERS or all(page.name != env.cause for page in public.rules.runbook):
        return None
    view = view_without_page(public, env.role, env.cause)
    returns = {
        label: _worth(env.role, action, public.rules.causes) for label, action in menu(view).items()
    }
    if _GUESS not in returns.values() or render(view, Style.MENU) == render(env.view, Style.MENU):
        return None
    return view, returns


def _worth(role: Role, action: Action, causes: Sequence[str]) -> float:
    if answer_of(role, action, causes) != WAITS:
        return _GUESS
    return _IDLE if isinstance(action, Noop) else 0.0
