"""What a role would see if its documents were others. The world stays as it is."""

from __future__ import annotations

from typing import Any

from chaosops.core.rules import Rulebook
from chaosops.core.telemetry import Public
from chaosops.core.vocabulary import Role
from chaosops.roles.view import RoleView, project


def view_with(public: Public, role: Role, **changes: Any) -> RoleView:
    """``changes`` are arguments of ``Rulebook``."""
    rules = public.rules
    parts: dict[str, Any] = {
        "services": rules.services,
        "agents": rules.agents,
        "causes": rules.causes,
        "verbs": rules.verbs,
        "replica_choices": rules.replica_choices,
        "layout": rules.layout,
        "calls": tuple(rules.calls.items()),
        "limits_pct": tuple(rules.limits_pct.items()),
        "runbook": rules.runbook,
        "charter": rules.charter,
        "menus": rules.menus,
    }
    return project(public._replace(rules=Rulebook(**{**parts, **changes})), role)


def view_without_page(public: Public, role: Role, cause: str) -> RoleView:
    """The runbook lacks the page of a cause, and nobody can name it."""
    rules = public.rules
    pages = tuple(page for page in rules.runbook if page.name != cause)
    causes = tuple(name for name in rules.causes if name != cause)
    return view_with(public, role, runbook=pages, causes=causes)
