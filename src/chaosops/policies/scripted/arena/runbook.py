"""What a careful team knows about a company before anything happens: which setting is behind
which kind of failure, what repairs it, and how to read a call graph and a trace."""

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
from chaosops.roles.layouts.arena import deepest_first, percent
from chaosops.roles.view import RoleView


class Page(NamedTuple):
    """One page of the runbook."""

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
# What services write when they suffer. Several failures leave no worker free.
SATURATED = ("capacity_cut", "pool_exhaustion", "batch_starvation", "retry_storm")
CAUSE_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("transaction", ("deadlock",)),
    ("row locks", ("deadlock",)),
    ("waiting writer", ("deadlock",)),
    ("gc pause", ("leak",)),
    ("allocation", ("leak",)),
    ("resident", ("leak",)),
    ("no space", ("disk_fill",)),
    ("segment", ("disk_fill",)),
    ("volume", ("disk_fill",)),
    ("handshake", ("expired_certificate",)),
    ("identity", ("expired_certificate",)),
    ("trust chain", ("expired_certificate",)),
    ("lookup", ("resolver_outage",)),
    ("address", ("resolver_outage",)),
    ("resolver", ("resolver_outage",)),
    ("misses", ("cache_stampede",)),
    ("same key", ("cache_stampede",)),
    ("asked the store", ("cache_stampede",)),
    ("unknown backend", ("misrouting",)),
    ("not found", ("misrouting",)),
    ("peers idle", ("misrouting",)),
    ("exception", ("bad_deploy",)),
    ("crashed", ("bad_deploy",)),
    ("assertion", ("bad_deploy",)),
    ("deadline", ("bad_config",)),
    ("setting rejected", ("bad_config",)),
    ("connection", ("pool_exhaustion",)),
    ("stolen", ("batch_starvation",)),
    ("run queue", ("batch_starvation",)),
    ("provider", ("quota_hit",)),
    ("too many requests", ("quota_hit",)),
    ("limit reached", ("quota_hit",)),
    ("duplicate", ("retry_storm",)),
    ("repeated", ("retry_storm",)),
    ("saturated", ("capacity_cut",)),
    ("request queue full", SATURATED),
    ("free worker", SATURATED),
)


def causes_in(text: str) -> tuple[str, ...]:
    """What a log line speaks for, if anything.

    >>> causes_in("write failed: no space left")
    ('disk_fill',)
    """
    return next((causes for word, causes in CAUSE_WORDS if word in text), ())


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
    """How far a value was moved in the direction that does damage; negative: the other way."""
    cause = CAUSE_OF.get(attribute)
    return 0 if cause is None else percent(change.before, change.after) * RUNBOOK[cause].harmful


def is_beyond_limit(entry: TraceEntry, view: RoleView) -> bool:
    before, after = int(entry.before), int(entry.after)
    return 100 * abs(after - before) > view.rules.limits_pct.get(entry.agent, 100) * before
