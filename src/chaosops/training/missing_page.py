"""Turns of companies whose runbook lacks the page of the fault.

Companies have every page, so a model that has learned from them alone takes the page that comes
nearest. These turns teach it to wait instead: to look, to talk or to do nothing. Without the page
nobody can know what to name, to repair or to flag, so every such action is worth less.
"""

from __future__ import annotations

from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.evaluation.reading_cases import WAITS, answer_of
from chaosops.roles.menu import menu
from chaosops.roles.other_documents import view_without_page
from chaosops.roles.prompt import Style, render
from chaosops.roles.view import RoleView

READERS = (Role.SRE, Role.OVERSIGHT, Role.DEV)
_GUESS = (
    -30.0
)  # points against waiting: about a wrong fix, or a flag that is right every third time


def without_page(env: Env) -> tuple[RoleView, dict[str, float]] | None:
    """What the role on turn sees without the page, and the return of each label; None where it
    does not see the page, or has nothing to guess."""
    public = env.world.public
    if env.role not in READERS or all(page.name != env.cause for page in public.rules.runbook):
        return None
    view = view_without_page(public, env.role, env.cause)
    waits = {
        label: answer_of(env.role, action, public.rules.causes) == WAITS
        for label, action in menu(view).items()
    }
    if all(waits.values()) or render(view, Style.MENU) == render(env.view, Style.MENU):
        return None
    return view, {label: 0.0 if is_waiting else _GUESS for label, is_waiting in waits.items()}
