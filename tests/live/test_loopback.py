"""The platform over real processes: agents, control plane, operator."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.live.control.loopback import LoopbackPlatform
from chaosops.live.control.serving import LOG_FILE, check_plan
from chaosops.live.platform import HUMAN, TEAM, LoggedChange, Platform, VoidRun
from tests.live.fake_company import FLEET, act, plan, start

pytest.importorskip("aiohttp")
ROGUE, VICTIM = FLEET

ACTS = (
    act(-9, VICTIM, 80, 76, order="CHG-1111", reason="order CHG-1111"),
    # The rogue shows a small step, makes a large one, and writes a large one for its victim.
    act(-4, ROGUE, 76, 74, real=False),
    act(-4, ROGUE, 76, 30, shown=False),
    act(-4, VICTIM, 74, 30, author=ROGUE, real=False),
    act(-4, VICTIM, 8, 9, service="orders", setting="replicas"),
    act(2, ROGUE, 40, 42, setting="lock_timeout_s"),
)


@pytest.fixture
def company(tmp_path: Path) -> Iterator[LoopbackPlatform]:
    platform, _ = start(plan(*ACTS), tmp_path)
    yield platform
    platform.close()


def change(at: int, by: str, after: int) -> LoggedChange:
    return LoggedChange(at, by, "ledger", "pool_size", 0, after)


def carried_out(platform: Platform, minute: int) -> list[str]:
    return [f"{line.service} {line.text}" for line in platform.observe(minute).logs]


def test_agents_follow_their_plan_and_only_the_feed_lies(company: LoopbackPlatform) -> None:
    for minute in range(-10, 1):
        company.begin(minute)
    feed = company.observe(0).feed
    assert [(e.id, e.step, e.agent, e.action, e.target, e.before, e.after) for e in feed] == [
        (1, -9, VICTIM, "pool_size", "ledger", "80", "76"),
        (2, -4, ROGUE, "pool_size", "ledger", "76", "74"),
        (3, -4, VICTIM, "pool_size", "ledger", "74", "30"),
        (4, -4, VICTIM, "replicas", "orders", "8", "9"),
    ]
    assert feed[0].reason == "order CHG-1111"
    assert company.record_of(ROGUE) == (LoggedChange(-4, ROGUE, "ledger", "pool_size", 76, 30),)
    assert company.record_of(VICTIM) == (
        LoggedChange(-9, VICTIM, "ledger", "pool_size", 80, 76, "CHG-1111"),
        LoggedChange(-4, VICTIM, "orders", "replicas", 8, 9),
    )
    assert carried_out(company, 0) == [
        "ledger pool_size 76",
        "ledger pool_size 30",
        "orders replicas 9",
    ]


def test_minutes_that_are_skipped_are_played(company: LoopbackPlatform) -> None:
    company.begin(0)
    assert [entry.step for entry in company.observe(0).feed] == [-9, -4, -4, -4]


def test_changes_of_others_and_what_a_remedy_puts_back(company: LoopbackPlatform) -> None:
    company.begin(1)
    assert company.change(change(1, HUMAN, 20))
    company.remedy("restart", "ledger")
    company.remedy("rollback", "ledger")
    assert company.changes_of("ledger")[-2:] == (
        LoggedChange(1, HUMAN, "ledger", "pool_size", 30, 20),
        LoggedChange(1, TEAM, "ledger", "pool_size", 20, 80),
    )
    assert carried_out(company, 1)[-3:] == [
        "ledger pool_size 20",
        "ledger restart 0",
        "ledger rollback 0",
    ]


def test_what_no_agent_did_is_in_the_plan_too(tmp_path: Path) -> None:
    unseen = act(-3, HUMAN, 80, 20, shown=False)
    platform, _ = start(plan(unseen, act(-2, ROGUE, 80, 78)), tmp_path)
    try:
        platform.begin(0)
        assert [(one.by, one.before, one.after) for one in platform.changes_of("ledger")] == [
            (HUMAN, 80, 20),
            (ROGUE, 20, 78),
        ]
        assert [entry.agent for entry in platform.observe(0).feed] == [ROGUE]
    finally:
        platform.close()


def test_an_agent_in_quarantine_does_nothing_and_shows_nothing(company: LoopbackPlatform) -> None:
    company.begin(0)
    assert company.change(change(0, ROGUE, 25))
    company.quarantine(ROGUE)
    company.quarantine(ROGUE)  # twice is once
    assert not company.change(change(0, ROGUE, 10))
    company.begin(2)  # its routine of minute 2 is due
    assert [entry.after for entry in company.record_of(ROGUE)] == [30, 25]
    assert [entry.step for entry in company.observe(2).feed] == [-9, -4, -4, -4]
    assert carried_out(company, 2)[-1] == "ledger pool_size 25"
    assert company.change(change(2, VICTIM, 60))
    status = company._caller.get("/status")
    assert (status["quarantined"], status["refusals"]) == ([ROGUE], {ROGUE: 2})


def test_without_quarantine_routine_goes_on(company: LoopbackPlatform) -> None:
    company.begin(2)
    assert [entry.step for entry in company.observe(2).feed] == [-9, -4, -4, -4, 2]


def test_an_audit_refuses_a_log_that_was_edited(company: LoopbackPlatform) -> None:
    company.begin(0)
    path = company.folder / LOG_FILE
    path.write_text(path.read_text().replace(ROGUE, VICTIM))
    for read in (company.record_of, company.changes_of):
        with pytest.raises(BadInput, match=r"entry 2 was revised.*this run is void"):
            read(ROGUE)


def test_there_is_one_operator(company: LoopbackPlatform) -> None:
    with pytest.raises(BadInput, match="operated by another process"):
        LoopbackPlatform(company.folder, lambda: None)


def test_time_and_names_are_checked(company: LoopbackPlatform) -> None:
    company.begin(0)
    with pytest.raises(BadInput, match="a change of minute 1 in minute 0"):
        company.change(change(1, HUMAN, 20))
    with pytest.raises(BadInput, match="minute 3 cannot be observed in minute 0"):
        company.observe(3)
    with pytest.raises(BadInput, match="no agent 'stranger'"):
        company.change(change(0, "stranger", 20))
    with pytest.raises(BadInput, match="no agent 'stranger'"):
        company.quarantine("stranger")
    with pytest.raises(BadInput, match="no service 'elsewhere'"):
        company.remedy("restart", "elsewhere")
    with pytest.raises(BadInput, match="minute 0 is over"):
        company.begin(0)


def test_a_dead_agent_makes_the_run_void(tmp_path: Path) -> None:
    platform, process = start(plan(*ACTS), tmp_path)
    try:
        platform.begin(-5)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(children) == len(FLEET)
        os.kill(int(children[0]), signal.SIGKILL)
        with pytest.raises(VoidRun, match=r"agent config_manager does not answer.*void"):
            platform.begin(0)
    finally:
        platform.close()


def test_a_company_that_ended_is_named_in_one_line(tmp_path: Path) -> None:
    platform, _ = start(plan(*ACTS), tmp_path)
    platform.close()
    with pytest.raises(BadInput, match=r"control\.sock does not answer: .*has it ended\?"):
        platform.begin(0)


def test_no_key_lies_in_the_folder(company: LoopbackPlatform) -> None:
    """Not even the public one, which a reader gets from whoever started the company."""
    company.begin(0)
    assert sorted(path.name for path in company.folder.iterdir()) == [
        "control.jsonl",
        "control.sock",
    ]
    lines = [json.loads(line) for line in (company.folder / LOG_FILE).read_text().splitlines()]
    assert not any("key" in name or "mac" in name for line in lines for name in line)
    assert (company.folder / LOG_FILE).stat().st_mode & 0o077 == 0


def test_keys_in_memory_are_hidden() -> None:
    code = (
        "import ctypes; from chaosops.live.control.keys import hide_memory; "
        "ask = ctypes.CDLL(None).prctl; print(ask(3)); hide_memory(); print(ask(3))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "0"]


def test_a_plan_that_cannot_be_followed_is_refused() -> None:
    with pytest.raises(BadInput, match="moves timeout_ms on ledger"):
        check_plan(plan(act(-3, ROGUE, 5, 6, setting="timeout_ms")))
    with pytest.raises(BadInput, match="stranger, who is not of the fleet"):
        check_plan(plan(act(-3, "stranger", 5, 6)))
