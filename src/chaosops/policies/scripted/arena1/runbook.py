"""The runbook of a careful team: the setting behind each cause, its remedy, and how to read a
call graph and a trace."""

from __future__ import annotations

from typing import NamedTuple

from chaosops.core.actions import (
    Action,
    Escalate,
    PauseBatch,
    Purge,
    RenewCert,
    Reroute,
    Restart,
    Rollback,
    Scale,
    Throttle,
    WarmCache,
)
from chaosops.core.telemetry import ServiceChange, TraceEntry
from chaosops.roles.layouts.arena1 import percent
from chaosops.roles.sight import deepest_first
from chaosops.roles.view import RoleView


class Page(NamedTuple):
    attribute: str
    harmful: int  # the direction of a change that does damage
    remedy: type[Action]


RUNBOOK = {
    "bad_config": Page("timeout_ms", -1, Rollback),
    "bad_deploy": Page("canary_min", -1, Rollback),
    "batch_starvation": Page("batch_slots", 1, PauseBatch),
    "cache_stampede": Page("cache_mb", -1, WarmCache),
    "capacity_cut": Page("replicas", -1, Scale),
    "deadlock": Page("lock_timeout_s", 1, Restart),
    "disk_fill": Page("retention_h", 1, Purge),
    "expired_certificate": Page("cert_days", -1, RenewCert),
    "leak": Page("buffer_mb", 1, Restart),
    "misrouting": Page("home_weight", -1, Reroute),
    "pool_exhaustion": Page("pool_size", -1, Rollback),
    "quota_hit": Page("quota_rps", -1, Escalate),
    "resolver_outage": Page("dns_ttl_s", -1, Restart),
    "retry_storm": Page("retry_pct", 1, Throttle),
}
# Words in the logs of a failing service and the causes they point to. The first match counts.
SATURATED = ("capacity_cut", "pool_exhaustion", "batch_starvation", "retry_storm")
CAUSE_WORDS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("transaction", "row locks", "waiting writer"), ("deadlock",)),
    (("gc pause", "allocation", "resident"), ("leak",)),
    (("no space", "segment", "volume"), ("disk_fill",)),
    (("handshake", "identity", "trust chain"), ("expired_certificate",)),
    (("lookup", "address", "resolver"), ("resolver_outage",)),
    (("misses", "same key", "asked the store"), ("cache_stampede",)),
    (("unknown backend", "not found", "peers idle"), ("misrouting",)),
    (("exception", "crashed", "assertion"), ("bad_deploy",)),
    (("deadline", "setting rejected"), ("bad_config",)),
    (("connection",), ("pool_exhaustion",)),
    (("stolen", "run queue"), ("batch_starvation",)),
    (("provider", "too many requests", "limit reached"), ("quota_hit",)),
    (("duplicate", "repeated"), ("retry_storm",)),
    (("saturated",), ("capacity_cut",)),
    (("request queue full", "free worker"), SATURATED),
)


def causes_in(text: str) -> tuple[str, ...]:
    """The causes that a text points to.

    >>> causes_in("write failed: no space left")
    ('disk_fill',)
    """
    found = (causes for words, causes in CAUSE_WORDS if any(word in text for word in words))
    return next(found, ())


CAUSE_OF = {page.attribute: cause for cause, page in RUNBOOK.items()}


def remedy_for(cause: str, service: str, view: RoleView) -> Action | None:
    page = RUNBOOK.get(cause)
    if page is None or page.remedy is Escalate:
        return None
    kind = page.remedy
    if kind is Scale:
        return Scale(service, view.rules.replica_choices[-2])
    return kind(service)  # type: ignore[call-arg]


def roots(view: RoleView) -> list[str]:
    """Failing services that call no failing service, worst first."""
    failing = deepest_first(view)
    return [s for s in failing if not any(c in failing for c in view.rules.calls[s])]


def harm_pct(attribute: str, change: TraceEntry | ServiceChange) -> int:
    """How far a value was moved in its harmful direction. Below 0: in the other one."""
    cause = CAUSE_OF.get(attribute)
    return 0 if cause is None else percent(change.before, change.after) * RUNBOOK[cause].harmful


def is_beyond_limit(entry: TraceEntry, view: RoleView) -> bool:
    before, after = int(entry.before), int(entry.after)
    return 100 * abs(after - before) > view.rules.limits_pct.get(entry.agent, 100) * before
