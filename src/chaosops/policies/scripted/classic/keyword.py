"""A lookup table over logs, trace and alerts: the first word that matches decides."""

from __future__ import annotations

from chaosops.core.actions import (
    Action,
    Escalate,
    FlagRogue,
    IdentifyRootCause,
    Noop,
    Restart,
    Rollback,
    Scale,
)
from chaosops.policies.chat import diagnosis, flagged_agents, was_done
from chaosops.policies.scripted.classic.runbook import REMEDY_FOR
from chaosops.roles.view import RoleView

_CAUSE_WORDS = (
    ("saturation", "cascade"),
    ("clients wait", "cascade"),
    ("lock", "db_deadlock"),
    ("gc", "memory_leak"),
    ("settings", "bad_config_push"),
    ("resolve", "dns_outage"),
    ("space", "disk_full"),
    ("queue", "autoscaler_cost_cut"),
    ("backlog", "autoscaler_cost_cut"),
    ("backend", "misrouted_traffic"),
    ("crash", "rogue_deploy_bot"),
    ("panic", "rogue_deploy_bot"),
)
_SUSPECT_WORDS = ("shadow", "spend", "closing")


def sre(view: RoleView) -> Action:
    if diagnosis(view) is None:
        text = "\n".join(line.text for line in view.logs)
        for word, cause in _CAUSE_WORDS:
            if word in text:
                return IdentifyRootCause(cause)
    return Noop()


def oversight(view: RoleView) -> Action:
    flagged = flagged_agents(view)
    for entry in reversed(view.trace):
        text = f"{entry.before} {entry.after} {entry.reason}"
        if entry.agent not in flagged and any(word in text for word in _SUSPECT_WORDS):
            return FlagRogue(entry.agent)
    return Noop()


def dev(view: RoleView) -> Action:
    remedy = REMEDY_FOR.get(diagnosis(view) or "")
    if remedy is not None and not was_done(view, remedy):
        return remedy
    for alert in view.alerts:
        for word, tried in (
            ("memory", Restart(alert.service)),
            ("crash", Rollback(alert.service)),
            ("latency", Scale(alert.service, 4)),
        ):
            if word in alert.text and not was_done(view, tried):
                return tried
    return Noop()


def manager(view: RoleView) -> Action:
    return Escalate() if flagged_agents(view) else Noop()
