"""What is sick, and since when, from reports that are written here."""

from __future__ import annotations

from typing import Any

import pytest

from chaosops.core.vocabulary import Health
from chaosops.live.collector import Collector
from chaosops.live.faults import load_faults, sizes_in
from chaosops.live.lifecycle import GUILTY, HARMLESS, moved
from chaosops.live.objectives import objectives
from chaosops.live.plan import CompanyPlan, SettingPlan
from chaosops.live.topology import SPECS

NOTHING = CompanyPlan(1, (), (), ())


def report(
    caller: str, callee: str, took: list[int], errors: int = 0, pending: list[int] | None = None
) -> dict[str, Any]:
    calls = {callee: [len(took), errors, took, pending or []]}
    return {"who": [caller, 0], "calls": calls, "lines": [], "gauges": {}, "delay_ms": 1.0}


def watched(reports: list[dict[str, Any]], seconds: float, lag_at: float = -1.0) -> Collector:
    """A collector that got all of these reports twice a second."""
    collector = Collector(objectives(sizes_in(NOTHING)))
    at = 0.0
    while at < seconds:
        at += 0.5
        for one in reports:
            collector.add(one, at)
        if 0 <= lag_at <= at < lag_at + 1:
            gauges = {"lag_ms": 400.0}
            collector.add({"who": ["canary", 0], "calls": {}, "lines": [], "gauges": gauges}, at)
        collector.tick(at)
    return collector


def test_a_service_is_sick_after_two_seconds_of_errors() -> None:
    failing = [report("storefront", "orders", [50] * 6, errors=1)]
    assert watched(failing, 2.0).health["orders"] is Health.HEALTHY
    assert watched(failing, 4.5).health["orders"] is Health.DEGRADED


def test_one_failure_is_no_incident() -> None:
    collector = watched([report("storefront", "accounts", [20] * 4)], 3.0)
    for step in range(12):
        failed = 1 if step == 0 else 0
        collector.add(report("storefront", "accounts", [20] * 4, errors=failed), 3.5 + step / 2)
        collector.tick(3.5 + step / 2)
        assert collector.health["accounts"] is Health.HEALTHY


def test_a_burst_that_is_over_is_no_incident() -> None:
    """The long window still burns its budget when the short one does not any more."""
    collector = watched([report("storefront", "orders", [50] * 6)], 3.0)
    for step in range(12):
        failed = 4 if step < 2 else 0
        collector.add(report("storefront", "orders", [50] * 6, errors=failed), 3.5 + step / 2)
        collector.tick(3.5 + step / 2)
        assert collector.health["orders"] is Health.HEALTHY, step
    assert collector.window.seen(7.0, collector.objectives)["orders"].errors == 8


def test_a_sick_service_is_well_once_the_long_window_is_clean() -> None:
    collector = watched([report("storefront", "orders", [50] * 6, errors=3)], 6.0)
    wells = []
    for step in range(12):
        collector.add(report("storefront", "orders", [50] * 6), 6.5 + step / 2)
        collector.tick(6.5 + step / 2)
        wells.append(collector.health["orders"] is Health.HEALTHY)
    assert wells.index(True) >= 8, "four seconds, and not little more than one"


def test_fewer_slow_requests_than_a_tenth_are_allowed() -> None:
    some = [30] * 11 + [2500]
    assert watched([report("orders", "ledger", some)], 6.0).health["ledger"] is Health.HEALTHY
    slower = [30] * 8 + [2500] * 2
    assert watched([report("orders", "ledger", slower)], 6.0).health["ledger"]


def test_calls_that_hang_are_seen_before_they_end() -> None:
    hanging = report("catalog", "cache", [], pending=[900] * 6)
    assert watched([hanging], 5.0).health["cache"]


def test_seconds_that_the_host_disturbed_do_not_count() -> None:
    calm = report("storefront", "orders", [50] * 6)
    failing = report("storefront", "orders", [50] * 6, errors=3)
    collector = watched([calm], 4.0, lag_at=3.5)
    for at in (4.25, 4.5, 4.75):
        collector.add(failing, at)
        collector.tick(at)
    assert collector.window.void_s == 1.0
    assert collector.health["orders"] is Health.HEALTHY
    assert not collector.window.seen(5.0, collector.objectives)["orders"].errors


def test_an_alert_reads_as_in_the_arena() -> None:
    reports = [
        report("storefront", "accounts", [40] * 6, errors=2),
        report("accounts", "ledger", [10] * 6),
    ]
    (alert,) = watched(reports, 5.0).alerts(5.0)
    assert alert.service == "accounts"
    assert alert.severity == "page"
    assert alert.text == "errors 33%, most on calls from storefront, slowest call to ledger"


@pytest.mark.parametrize("threshold", [30, 35, 45, 55, 70, 90])
@pytest.mark.parametrize("name", sorted(load_faults()))
def test_a_knee_lies_between_what_is_harmless_and_what_is_not(name: str, threshold: int) -> None:
    fault = load_faults()[name]
    assert set(fault.services) <= set(SPECS)
    if name == "capacity_cut" or (threshold * GUILTY >= 100 and fault.harmful < 0):
        return  # whole replicas are sized by their own rule; nothing falls below zero
    size = SettingPlan(fault.services[0], name, fault.setting, fault.usual, threshold)
    ends = [moved(fault.usual, fault.harmful, threshold, share) for share in (HARMLESS, GUILTY)]
    assert min(ends) < fault.knee(size) < max(ends)
