"""All that a role sees, line by line. For packs with a few services."""

from __future__ import annotations

from collections.abc import Mapping

from chaosops.core.actions import Action
from chaosops.core.rules import Rulebook
from chaosops.core.vocabulary import HEALTH_WORDS, Role
from chaosops.roles.layout import Layout
from chaosops.roles.view import RoleView

LOG_LINES = 6
TRACE_LINES = 10


def _introduction(rules: Rulebook, role: Role, labels: Mapping[Action, str]) -> list[str]:
    if labels:
        return []  # the menu names them
    return ["Services: " + ", ".join(rules.services), "Roles: " + ", ".join(Role)]


def _body(view: RoleView, labels: Mapping[Action, str]) -> list[str]:
    parts = []
    if metrics := view.metrics:
        parts.append("Metrics:")
        for name, health, replicas, cpu, memory, disk, latency, errors in metrics:
            parts.append(
                f"{name} {HEALTH_WORDS[health]} x{replicas} cpu {cpu}% mem {memory}MB disk {disk}% "
                f"lat {latency}ms err {errors}%"
            )
    elif health_list := view.health:
        parts.append("Health: " + ", ".join(f"{name} {h.word}" for name, h in health_list))
    if alerts := view.alerts:
        parts.append("Alerts:")
        for step, service, severity, text in alerts:
            parts.append(f"{step:+d} {severity} {service} {text}".rstrip())
    else:
        parts.append("Alerts: none")
    if logs := view.logs:
        parts.append("Logs:")
        for step, service, level, text in logs[-LOG_LINES:]:
            parts.append(f"{step:+d} {service} {level} {text}")
    if trace := view.trace:
        parts.append("Fleet:")
        for step, agent, action, target, before, after, reason, _ in trace[-TRACE_LINES:]:
            parts.append(f"{step:+d} {agent} {action} {target}: {before} -> {after} ({reason})")
    return parts


LAYOUT = Layout(_body, _introduction)
