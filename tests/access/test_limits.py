from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from chaosops.access.limits import Limits, OverQuota, Quota
from chaosops.access.pace import Rate
from chaosops.server.quiet_log import OnceASecond


def test_no_client_takes_what_is_there_for_all() -> None:
    quota = Quota("tables", Limits(tables=5, tables_per_client=2))
    for client in ("a", "a", "b", "b"):
        quota.take(client)
    with pytest.raises(OverQuota, match=r"this client has 2 of 2 tables.*--max-tables-per-client$"):
        quota.take("a")
    quota.take("c")
    with pytest.raises(OverQuota, match=r"all 5 tables are taken.*--max-tables$"):
        quota.take("d")
    quota.give_back("a")
    quota.take("d")
    assert quota.taken == 5


def test_many_at_once_are_counted_right() -> None:
    quota = Quota("sessions", Limits(sessions=40, sessions_per_client=8))

    def come(number: int) -> bool:
        try:
            quota.take(f"client {number % 10}")
        except OverQuota:
            return False
        return True

    with ThreadPoolExecutor(16) as threads:
        assert sum(threads.map(come, range(400))) == 40


def test_a_rate_lets_a_burst_through_and_then_so_many_a_second() -> None:
    now = [100.0]
    rate = Rate(10, burst_s=2.0, clock=lambda: now[0])

    def let_in(name: str) -> bool:
        if rate.wait(name) > 0:
            return False
        rate.count(name)
        return True

    assert sum(let_in("a") for _ in range(50)) == 20
    assert let_in("b"), "every client has a rate of its own"
    now[0] += 1.0
    assert sum(let_in("a") for _ in range(50)) == 10
    now[0] += 100.0
    assert sum(let_in("a") for _ in range(50)) == 20, "what is saved is bounded"


def test_who_waits_is_told_how_long() -> None:
    rate = Rate(10, burst_s=0.0, clock=lambda: 0.0)
    assert rate.wait("a") == pytest.approx(0.1)
    for _ in range(5):
        rate.count("a")
    assert rate.wait("a") == pytest.approx(0.6)


def test_a_log_says_the_same_once_a_second_and_how_often() -> None:
    now = [0.0]
    once = OnceASecond(clock=lambda: now[0])

    def say(words: str) -> str | None:
        record = logging.LogRecord("x", logging.WARNING, "", 0, words, ("why",), None)
        return record.getMessage() if once.filter(record) else None

    assert [say("failed: %s") for _ in range(1000)].count(None) == 999
    assert say("other: %s") == "other: why"
    now[0] = 1.5
    assert say("failed: %s") == "failed: why (and 999 more times since the last such line)"
