"""How far a setting is moved when a fault is tried alone."""

from __future__ import annotations

from dataclasses import replace

from chaosops.live.faults import sizes_in
from chaosops.live.plan import CompanyPlan

HARMLESS, GUILTY = 0.92, 1.25
"""Of the threshold: what the plot calls harmless goes no further, and what did the damage goes at
least as far."""


def plan_with(threshold_pct: int, seed: int = 1) -> CompanyPlan:
    """A company without a fleet, all of whose settings have the same threshold."""
    empty = CompanyPlan(seed, (), (), ())
    settings = [
        replace(size, threshold_pct=threshold_pct)
        for found in sizes_in(empty).values()
        for size in found.values()
    ]
    return CompanyPlan(seed, tuple(settings), (), ())


def moved(usual: int, direction: int, threshold_pct: int, share: float) -> int:
    """The value after a change of so many thresholds, rounded as the arena does.

    >>> moved(8, -1, 30, 0.92), moved(8, -1, 30, 1.25), moved(60, 1, 35, 1.25)
    (6, 5, 87)
    """
    by = -(-usual * round(share * threshold_pct * 100) // 10_000)
    if share > 1:
        by = max(by, -(-usual * (threshold_pct + 1) // 100))
    else:
        by = min(by, max(1, usual * threshold_pct // 100))
    return max(1, usual + direction * by)
