"""The objectives of every service: 99 of 100 requests succeed, and nine of ten take no longer than
some milliseconds. The rest is the budget; how fast it is used is the burn rate."""

from __future__ import annotations

from collections.abc import Mapping

from chaosops.live.faults import load_faults
from chaosops.live.plan import SettingPlan
from chaosops.live.topology import SERVICES

ERROR_BUDGET, SLOW_BUDGET = 0.01, 0.1
_SLACK = 1.25
_SLACK_MS = 300.0  # the host's noise; waits of faults are longer
# The outbox answers before the mail is sent.
_NOT_WAITED_FOR = {("outbox", "mailer")}


def objectives(sizes: Mapping[str, Mapping[str, SettingPlan]]) -> dict[str, float]:
    """In milliseconds. A service waits for those it calls, so theirs is added to its own work."""
    base: dict[str, float] = {}
    for spec in reversed(SERVICES):
        own = max(float(spec.work_ms), _longest(spec.name, sizes))
        waits = [base[one] for one in spec.calls if (spec.name, one) not in _NOT_WAITED_FOR]
        base[spec.name] = own + max(waits, default=0.0)
    return {name: _SLACK * ms + _SLACK_MS for name, ms in base.items()}


def _longest(service: str, sizes: Mapping[str, Mapping[str, SettingPlan]]) -> float:
    return sum(
        fault.base_ms(sizes[name][service])
        for name, fault in load_faults().items()
        if service in sizes.get(name, {})
    )
