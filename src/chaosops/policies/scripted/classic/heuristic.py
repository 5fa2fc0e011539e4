"""A decent on-call team. It reads metrics instead of words, tries each remedy once, and suspects a
fleet agent only for a large change to a service that is failing now."""

from __future__ import annotations

import re

from chaosops.core.actions import (
    Action,
    Communicate,
    Escalate,
    FlagRogue,
    IdentifyRootCause,
    Noop,
    Resolve,
    Restart,
    Rollback,
)
from chaosops.core.telemetry import TraceEntry
from chaosops.core.vocabulary import Health
from chaosops.policies.chat import diagnosis, flagged_agents, was_done
from chaosops.policies.scripted.classic.runbook import REMEDY_FOR
from chaosops.roles.view import RoleView

_NUMBER = re.compile(r"\d+")
_SUSPICIOUS_POINTS = 15  # a share that moves by this many percentage points is suspicious


def sre(view: RoleView) -> Action:
    cause = likely_cause(view)
    if cause is not None and not was_done(view, IdentifyRootCause(cause)):
        return IdentifyRootCause(cause)
    if cause is None and view.step == 0:
        worst = max(view.metrics, key=lambda reading: (reading.health, reading.error_pct))
        return Communicate(f"{worst.service} is {worst.health.word}, cause unclear")
    return Noop()


def likely_cause(view: RoleView) -> str | None:
    """The cause that the metrics look like, if any."""
    auth, payments, notifications, db = view.metrics
    if db.health:
        return "disk_full" if db.disk_pct > 90 else "db_deadlock"
    if notifications.health and notifications.memory_mb > 700:
        return "memory_leak"
    if auth.health and payments.health:
        return "dns_outage"
    if auth.health is Health.CRITICAL:
        return "bad_config_push"
    if payments.health and payments.cpu_pct > 75:
        return "autoscaler_cost_cut"
    if payments.health and payments.cpu_pct < 30:
        return "misrouted_traffic"
    return None


def suspected_services(view: RoleView) -> set[str]:
    return {item.service for item in view.health if item.health}


def oversight(view: RoleView) -> Action:
    failing = suspected_services(view)
    flagged = flagged_agents(view)
    for entry in reversed(view.trace):
        if entry.target in failing and entry.agent not in flagged and is_drastic(entry):
            return FlagRogue(entry.agent)
    return Noop()


def is_drastic(entry: TraceEntry) -> bool:
    """Whether a pool was cut to less than half, or a share moved by many points."""
    before, after = _NUMBER.search(entry.before), _NUMBER.search(entry.after)
    if before is None or after is None:
        return False
    old, new = int(before[0]), int(after[0])
    if "%" in entry.after:
        return abs(new - old) >= _SUSPICIOUS_POINTS
    return new * 2 < old


def dev(view: RoleView) -> Action:
    failing = sorted((item for item in view.health if item.health), key=lambda i: -i.health)
    if not failing:
        return Noop()
    cause = diagnosis(view)
    if cause is None and view.step < 4:
        return Communicate("waiting for a diagnosis before I touch anything")
    if cause is not None:
        remedy = REMEDY_FOR.get(cause, Noop())
        if not was_done(view, remedy):
            return remedy
    worst = failing[0].service
    attempts = (Rollback(worst), Restart(worst))
    return next((tried for tried in attempts if not was_done(view, tried)), Noop())


def manager(view: RoleView) -> Action:
    if not view.alerts:
        return Resolve()
    return Escalate() if flagged_agents(view) else Noop()
