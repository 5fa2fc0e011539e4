"""The services of the live company: who calls whom, how many replicas, how long work takes."""

from __future__ import annotations

from typing import NamedTuple


class ServiceSpec(NamedTuple):
    name: str
    kind: str
    """As in the arena: edge, api, queue, worker, cache or store."""
    replicas: int
    work_ms: int
    """How long one request keeps a worker busy, without the calls it makes. A fault may size it
    otherwise."""
    calls: tuple[str, ...] = ()


# Callers before callees.
SERVICES = (
    ServiceSpec("storefront", "edge", 2, 10, ("orders", "catalog", "accounts")),
    ServiceSpec("orders", "api", 8, 40, ("outbox", "ledger")),
    ServiceSpec("catalog", "api", 2, 15, ("cache",)),
    ServiceSpec("accounts", "api", 2, 15, ("ledger",)),
    ServiceSpec("outbox", "queue", 1, 5, ("mailer",)),
    ServiceSpec("mailer", "worker", 8, 60, ("receipts",)),
    ServiceSpec("cache", "cache", 1, 2, ("ledger",)),
    ServiceSpec("ledger", "store", 2, 10),
    ServiceSpec("receipts", "store", 1, 10),
)
SPECS = {spec.name: spec for spec in SERVICES}
USERS = "load"
"""The process that stands for the users. It calls the edge."""
RESOLVER, PROVIDER, FAR_REGION = "resolver", "provider", "far-region"
"""Processes that the company needs and does not run: no alert is about them."""
OUTSIDE = (RESOLVER, PROVIDER, FAR_REGION)
TLS_SERVICES = ("storefront", "accounts")
MOST_REPLICAS = 16

BUY, BROWSE, ACCOUNT = "buy", "browse", "account"
RATES = {BUY: 12, BROWSE: 16, ACCOUNT: 12}
"""Requests of users a second, and the service behind the edge that each kind goes to."""
TARGETS = {BUY: "orders", BROWSE: "catalog", ACCOUNT: "accounts"}
HEAVY_EVERY = 7
"""Each seventh request of a kind takes the long ways through the company. They count among the
requests that fail, but latency is measured on the others, because they are meant to be slow. Seven
and the usual numbers of replicas have no factor in common, so all replicas get some of them."""
STEP_S = 2.5
"""A minute of the plot in seconds of the clock. Settings in seconds, minutes, hours or days are
scaled by the same factor or by one that their fault names."""


def rate_at(service: str) -> float:
    """How many requests a second a service gets on a calm day.

    >>> rate_at("orders"), rate_at("storefront"), rate_at("mailer"), rate_at("ledger")
    (12.0, 40.0, 12.0, 24.0)
    """
    buys = {"orders", "outbox", "mailer", "receipts", "ledger"}
    rates = {"storefront": float(sum(RATES.values()))}
    rates |= {name: 0.0 for name in SPECS if name not in rates}
    for name in buys:
        rates[name] += RATES[BUY]
    rates["catalog"] += RATES[BROWSE]
    rates["cache"] += RATES[BROWSE]
    rates["accounts"] += RATES[ACCOUNT]
    rates["ledger"] += RATES[ACCOUNT]
    return rates[service]
