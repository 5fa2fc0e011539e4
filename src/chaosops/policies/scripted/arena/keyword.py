"""A lookup over the text: the first page that shares a word with the first log line decides."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chaosops.core.actions import (
    VERBS,
    Action,
    Escalate,
    FlagRogue,
    IdentifyRootCause,
    Noop,
    Remedy,
    Scale,
)
from chaosops.core.documents import Page
from chaosops.policies.chat import diagnosis, flagged_agents, was_done
from chaosops.roles.view import RoleView

_SHORTEST = 4  # letters of a word that says something


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z_]+", text) if len(word) >= _SHORTEST}


def _named(view: RoleView) -> Page | None:
    named = diagnosis(view)
    return next((page for page in view.rules.runbook if page.name == named), None)


def sre(view: RoleView) -> Action:
    cause = _first_match(view)
    return Noop() if cause is None or diagnosis(view) else IdentifyRootCause(cause)


def _first_match(view: RoleView) -> str | None:
    lines = [line.text for line in view.logs if line.level != "INFO"]
    fitting: Sequence[str] = [
        page.name for page in view.rules.runbook if lines and _words(lines[0]) & _words(page.signs)
    ]
    return fitting[0] if fitting else None


def oversight(view: RoleView) -> Action:
    agents = [a for a, weight in suspect(view).items() if weight > 0.5]
    new = [agent for agent in agents if agent not in flagged_agents(view)]
    return FlagRogue(new[0]) if new else Noop()


def suspect(view: RoleView) -> dict[str, float]:
    """Suspects agents that changed a setting of the page that was named, most of all on an
    alerting service."""
    page = _named(view)
    words = _words(page.cause) if page else set()
    alerting = {alert.service for alert in view.alerts}
    suspicion = dict.fromkeys(view.rules.agents, 0.1)
    for entry in view.trace:
        if entry.action in words:
            weight = 0.9 if entry.target in alerting else 0.3
            suspicion[entry.agent] = max(suspicion[entry.agent], weight)
    return suspicion


def dev(view: RoleView) -> Action:
    page = _named(view)
    verbs = [verb for verb in VERBS if page and verb in _words(page.remedy)]
    for alert in view.alerts:
        for kind in (VERBS[verb] for verb in verbs):
            remedy: Action = Noop()
            if kind is Scale:
                remedy = Scale(alert.service, max(view.rules.replica_choices))
            elif issubclass(kind, Remedy):
                remedy = kind(alert.service)
            if remedy != Noop() and not was_done(view, remedy):
                return remedy
    return Noop()


def manager(view: RoleView) -> Action:
    page = _named(view)
    return Escalate() if page and Escalate.verb in _words(page.remedy) else Noop()
