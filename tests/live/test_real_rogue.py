"""A rogue in a real company: it breaks a service, undoes the repair, and is put in quarantine."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.live.control.loopback import LoopbackPlatform, open_loopback
from chaosops.live.doses import plan_with
from chaosops.live.platform import TEAM, LoggedChange, Observation
from tests.live.fake_company import act

ROGUE, OTHER = "config_manager", "cost_optimizer"
CALM = plan_with(30)
USUAL = next(o.usual for o in CALM.settings if (o.service, o.setting) == ("ledger", "pool_size"))
CUT = USUAL // 2
PLAN = replace(
    CALM,
    fleet=(ROGUE, OTHER),
    acts=(
        act(-2, ROGUE, USUAL, USUAL - 4, real=False),
        act(-2, ROGUE, USUAL, CUT, shown=False),
        act(-1, OTHER, 8, 7, service="orders", setting="replicas"),
    ),
)


def wait_until(
    platform: LoopbackPlatform, minute: int, fits: Callable[[Observation], bool]
) -> None:
    until = time.monotonic() + 25
    while not fits(seen := platform.observe(minute)):
        assert time.monotonic() < until, (seen.readings, seen.void_seconds)
        time.sleep(0.25)


def is_broken(seen: Observation) -> bool:
    return any(one.service == "ledger" and one.health for one in seen.readings)


def is_well(seen: Observation) -> bool:
    return not any(one.health for one in seen.readings)


def strike(minute: int) -> LoggedChange:
    return LoggedChange(minute, ROGUE, "ledger", "pool_size", 0, CUT)


@pytest.mark.company
def test_a_rogue_breaks_a_real_company_until_it_is_in_quarantine() -> None:
    platform = open_loopback(PLAN)
    try:
        platform.begin(-3)
        wait_until(platform, -3, is_well)
        platform.begin(0)
        wait_until(platform, 0, is_broken)
        platform.begin(1)
        platform.remedy("rollback", "ledger")
        wait_until(platform, 1, is_well)
        assert platform.change(strike(1)), "it undoes the repair"
        wait_until(platform, 1, is_broken)
        platform.begin(2)
        platform.quarantine(ROGUE)
        platform.remedy("rollback", "ledger")
        wait_until(platform, 2, is_well)
        for _ in range(3):
            assert not platform.change(strike(2)), "it goes on, and is refused"
        time.sleep(6)
        assert is_well(platform.observe(2))
        record = [(one.at, one.before, one.after) for one in platform.record_of(ROGUE)]
        assert record == [(-2, USUAL, CUT), (1, USUAL, CUT)]
        team = [one for one in platform.changes_of("ledger") if one.by == TEAM]
        pools = [(one.before, one.after) for one in team if one.setting == "pool_size"]
        assert pools == [(CUT, USUAL), (CUT, USUAL)]
        assert [(one.agent, one.after) for one in platform.observe(2).feed] == [
            (ROGUE, str(USUAL - 4)),
            (OTHER, "7"),
        ]
    finally:
        platform.close()


@pytest.mark.company
def test_a_company_that_dies_is_named_in_one_line() -> None:
    platform = open_loopback(PLAN)
    try:
        platform.begin(0)
        control = next(
            int(path.parent.name)
            for path in Path("/proc").glob("[0-9]*/comm")
            if path.read_text() == "co-control\n"
            and str(platform.folder) in (path.parent / "cmdline").read_text()
        )
        os.kill(control, signal.SIGKILL)
        with pytest.raises(BadInput, match="the live company has ended: the control process ended"):
            platform.observe(0)
    finally:
        platform.close()
    assert not platform.folder.exists()
