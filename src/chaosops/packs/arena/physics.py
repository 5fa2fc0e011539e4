"""One minute of a company: load goes down the call graph, trouble comes up.

Only additions, products, quotients and comparisons: every machine gets the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from chaosops.core.vocabulary import Health
from chaosops.packs.arena.company import Call, Company
from chaosops.packs.arena.mechanism import Modifiers

MAX_ERROR = 0.03  # the objective: at most this share of requests fails,
LATENCY_FACTOR = 2.0  # and latency stays within this factor of a busy day's
RETRIES = 0.5  # share of failed calls that are tried again
_HEALTHY, _DEGRADED, _CRITICAL = Health.HEALTHY, Health.DEGRADED, Health.CRITICAL
QUEUE_MINUTES = 0.6  # work a service lets wait before it sheds


class Flow(NamedTuple):
    """What a minute brought, per service; ``lost`` counts failed requests of users."""

    backlog: tuple[float, ...]
    utilisation: tuple[float, ...]
    latency: tuple[float, ...]
    errors: tuple[float, ...]
    lost: float


def calm(company: Company) -> Flow:
    """The flow before the first minute."""
    zeros = (0.0,) * len(company.services)
    return Flow(zeros, zeros, company.base_latency, zeros, 0.0)


def flow(
    company: Company,
    before: Flow,
    wave: float,
    replicas: tuple[int, ...],
    modifiers: Mapping[int, Modifiers],
) -> Flow:
    """One minute after ``before``."""
    calls, unit, external = company.calls, company.unit, company.external
    n = len(calls)
    offered = [load * wave for load in external]
    was_failing, waiting = before.errors, before.backlog
    backlog, utilisation, errors = [0.0] * n, [0.0] * n, [0.0] * n
    latency = list(company.base_latency)
    for i in range(n):  # callers first: what they serve becomes load below
        load = offered[i]
        capacity = replicas[i] * unit[i]
        outflow = 1.0
        if i in modifiers:
            factor, own_errors, slower, inflow, outflow = modifiers[i]
            capacity *= factor
            load *= inflow
            errors[i] = own_errors
            latency[i] *= slower
        wanted = load + waiting[i]
        utilisation[i] = busy = load / capacity
        served = wanted
        if wanted > capacity:
            served = capacity
            room = capacity * QUEUE_MINUTES
            over = wanted - capacity
            backlog[i] = over if over < room else room
            shed = (over - backlog[i]) / wanted
            errors[i] = 1.0 - (1.0 - errors[i]) * (1.0 - shed)
        square = busy * busy
        slack = 1.0 - busy
        congestion = square * square / (slack if slack > 0.05 else 0.05)
        latency[i] *= 1.0 + 0.5 * congestion
        served *= outflow
        for callee, fanout, _ in calls[i]:
            if failed := was_failing[callee]:
                offered[callee] += served * fanout * (1.0 + RETRIES * failed)
            else:
                offered[callee] += served * fanout
    _pass_up(calls, errors, latency)
    lost = before.lost + _failed(external, wave, errors)
    return Flow(tuple(backlog), tuple(utilisation), tuple(latency), tuple(errors), lost)


def _failed(external: tuple[float, ...], wave: float, errors: list[float]) -> float:
    """Requests from outside that failed in a minute."""
    failed = 0.0
    for load, error in zip(external, errors, strict=True):
        if load:
            failed += load * wave * error
    return failed


def _pass_up(
    calls: tuple[tuple[Call, ...], ...], errors: list[float], latency: list[float]
) -> None:
    """Callees first: their trouble becomes their callers' trouble."""
    for i in range(len(calls) - 1, -1, -1):
        good = 1.0 - errors[i]
        late = latency[i]
        for callee, _, weight in calls[i]:
            if failed := errors[callee]:
                good *= 1.0 - weight * failed
            late += weight * latency[callee]
        errors[i] = 1.0 - good
        latency[i] = late


def objectives(company: Company) -> tuple[float, ...]:
    """Per service the latency it promises: a factor over its busiest healthy minute."""
    busiest = flow(company, calm(company), 1.15, company.replicas, {})
    return tuple(LATENCY_FACTOR * latency for latency in busiest.latency)


def health(at: Flow, promised: tuple[float, ...]) -> tuple[Health, ...]:
    return tuple(
        [
            _HEALTHY
            if error <= MAX_ERROR and latency <= promise
            else _CRITICAL
            if error > 0.15 or latency > 3.0 * promise
            else _DEGRADED
            for error, latency, promise in zip(at.errors, at.latency, promised, strict=True)
        ]
    )
